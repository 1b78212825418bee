/**
 * The key stream of ChaCha20 from its beginning, with a nonce of zeros: many bytes that follow from few. Setting up a cipher of
 * OpenSSL for each key costs several times what these few hundred bytes do.
 */

const BLOCK_WORDS = 16;
const BLOCK_BYTES = BLOCK_WORDS * 4;
const KEY_WORDS = 8;
const KEY_POSITION = 4;
const COUNTER_POSITION = 12;
const DOUBLE_ROUNDS = 10;
/** "expand 32-byte k". */
const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];

const initial = new Int32Array(BLOCK_WORDS);
const state = new Int32Array(BLOCK_WORDS);
initial.set(CONSTANTS);

/** Fills `target`, whole blocks of 64 bytes, with the key stream of a key of 32 bytes. */
export function fillWithKeyStream(target: DataView, key: Uint8Array): void {
  const keyView = new DataView(key.buffer, key.byteOffset, key.byteLength);
  for (let word = 0; word < KEY_WORDS; word++) initial[KEY_POSITION + word] = keyView.getInt32(word * 4, true);
  for (let start = 0; start < target.byteLength; start += BLOCK_BYTES) {
    initial[COUNTER_POSITION] = start / BLOCK_BYTES;
    state.set(initial);
    for (let round = 0; round < DOUBLE_ROUNDS; round++) {
      mixQuarter(0, 4, 8, 12);
      mixQuarter(1, 5, 9, 13);
      mixQuarter(2, 6, 10, 14);
      mixQuarter(3, 7, 11, 15);
      mixQuarter(0, 5, 10, 15);
      mixQuarter(1, 6, 11, 12);
      mixQuarter(2, 7, 8, 13);
      mixQuarter(3, 4, 9, 14);
    }
    for (let word = 0; word < BLOCK_WORDS; word++) {
      target.setInt32(start + word * 4, (state[word] as number) + (initial[word] as number), true);
    }
  }
}

function mixQuarter(atA: number, atB: number, atC: number, atD: number): void {
  let a = state[atA] as number;
  let b = state[atB] as number;
  let c = state[atC] as number;
  let d = state[atD] as number;
  a = (a + b) | 0;
  d ^= a;
  d = (d << 16) | (d >>> 16);
  c = (c + d) | 0;
  b ^= c;
  b = (b << 12) | (b >>> 20);
  a = (a + b) | 0;
  d ^= a;
  d = (d << 8) | (d >>> 24);
  c = (c + d) | 0;
  b ^= c;
  b = (b << 7) | (b >>> 25);
  state[atA] = a;
  state[atB] = b;
  state[atC] = c;
  state[atD] = d;
}
