/**
 * The framing of gRPC on an HTTP/2 stream: each message has a prefix of five bytes, a flag (1 =
 * compressed) and the length. Compressed messages are errors, since this client does not offer
 * compression.
 */
import { NodeProtocolError } from './errors.ts';

const PREFIX_BYTES = 5;
/** Larger buffers are not reused. */
const KEPT_BYTES = 64 * 1024 * 1024;

export function encodeFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

/**
 * Assembles messages from the chunks of a stream. Each byte is copied at most once, into a buffer
 * that is reused: allocating one for each page of blocks would cause a full garbage collection
 * every few pages.
 */
export class FrameReader {
  readonly #limitBytes: number;
  readonly #onMessage: (message: Uint8Array) => void;
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixFilled = 0;
  #buffer = Buffer.alloc(0);
  /** The incomplete message, a view of the buffer. */
  #message: Buffer | undefined;
  #messageFilled = 0;

  /** The bytes of a message are valid only until `onMessage` returns. */
  constructor(limitBytes: number, onMessage: (message: Uint8Array) => void) {
    this.#limitBytes = limitBytes;
    this.#onMessage = onMessage;
  }

  /** Throws NodeProtocolError, after which the stream is unusable. */
  push(chunk: Uint8Array): void {
    let position = 0;
    while (position < chunk.length) {
      if (this.#message === undefined) {
        while (this.#prefixFilled < PREFIX_BYTES && position < chunk.length) {
          this.#prefix[this.#prefixFilled++] = chunk[position++] as number;
        }
        if (this.#prefixFilled < PREFIX_BYTES) return;
        const length = this.#readPrefix();
        this.#prefixFilled = 0;
        if (length <= chunk.length - position) {
          const message = chunk.subarray(position, position + length);
          position += length;
          this.#onMessage(message);
          continue;
        }
        if (length > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(length);
        this.#message = this.#buffer.subarray(0, length);
        this.#messageFilled = 0;
      }
      const message = this.#message;
      const copied = chunk.subarray(position, position + message.length - this.#messageFilled);
      message.set(copied, this.#messageFilled);
      this.#messageFilled += copied.length;
      position += copied.length;
      if (this.#messageFilled === message.length) {
        this.#message = undefined;
        this.#onMessage(message);
        if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.alloc(0);
      }
    }
  }

  #readPrefix(): number {
    const length = this.#prefix.readUInt32BE(1);
    if (this.#prefix[0] === 1) throw new NodeProtocolError('the node compressed a message, which was not offered');
    if (this.#prefix[0] !== 0) throw new NodeProtocolError('the node sent data that is not a gRPC message');
    if (length > this.#limitBytes) {
      throw new NodeProtocolError(`the node sent a message of ${length} bytes, and the limit is ${this.#limitBytes}`);
    }
    return length;
  }
}
