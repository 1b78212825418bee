/** Where the windows of rate limits are counted: in this process, or in the database for all processes of the API. */

/** What a window allows: hundredths of a request unit. */
export interface WindowLimit {
  hundredths: number;
  seconds: number;
}

/** The window after a request, whether it was charged or not. */
export interface WindowState {
  charged: boolean;
  /** Hundredths that are left. */
  remaining: number;
  /** Names the window among those of its bucket; undefined while none has begun. */
  window: number | undefined;
  /** Milliseconds until it has ended. */
  endsInMs: number;
}

/** A window begins with the first charge after the last one has ended. */
export interface Windows {
  /**
   * Charges a cost if the window still has that much, in one atomic step.
   * @throws HttpError 503 if the windows are out of reach: nothing is ever admitted uncounted
   */
  charge(bucket: string, limit: WindowLimit, cost: number): Promise<WindowState>;
  /** Gives back what was charged in a window that may have ended since. Never more than once for a charge. */
  giveBack(bucket: string, window: number, cost: number): void;
}
