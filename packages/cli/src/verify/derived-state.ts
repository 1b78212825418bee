import { type Queryable, verifyState } from '@kasgres/state';

export const checkInvariant4 = (db: Queryable): Promise<string[]> => verifyState(db, 4);
export const checkInvariant12 = (db: Queryable): Promise<string[]> => verifyState(db, 12);
