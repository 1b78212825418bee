/**
 * Programs that spends on testnet-10 revealed, for tests. Each hash and reveal can be checked with
 * a node, and is in fixtures/provenance.json of the crate kascov-decode 0.1.0, too. The template
 * hashes were computed with Python's hashlib.
 */
import { fromHex } from '@kasgres/kaspa';

const program = (hex: string, hash: string, template: string, outpoint: string, revealedBy: string) => ({
  bytes: fromHex(hex),
  hash,
  template,
  outpoint,
  revealedBy,
});

/** Two instances of one contract, which differ in the number that push 4 has. */
export const COLLECTION = program(
  '010a88b9cb519db4529db9bfaa00c3aa88b9be0400e1f5059400c29d00c20480778e06a26900d6009d00cf00d58876aa200baf2ca26edf9d4069d61cd1a4faa2342a8e341f0a361f1ec3de955cbaf6bf8b88ac',
  'c91bd8da6b6301c872ee67a116a8621320a3c6cfe5d3167914dc6d132eb61dcc',
  '5da3f887f77704989c7ee33b2547dfe501d3d1270b3a17bf12668b266850126f',
  '8e227a370a3095c8c25ab6ad991f0030ba4d34e182dad7c751b87819b4d9bae9:0',
  '52263de78be991c39cf69d6090f57539795fcdad2036f20de329cc99e4bd2e7e',
);
export const OTHER_COLLECTION = program(
  '010a88b9cb519db4529db9bfaa00c3aa88b9be0480c3c9019400c29d00c20480778e06a26900d6009d00cf00d58876aa200baf2ca26edf9d4069d61cd1a4faa2342a8e341f0a361f1ec3de955cbaf6bf8b88ac',
  '35083ee0da063f732c33a862d1e95e7f57f613292005dd33ef66ede7169fe937',
  COLLECTION.template,
  '64d2d9b6c932eda872c29df8550610a472a4ca418648fc55c99e49446a2eeaeb:0',
  '9cf4af1f8b6f8910b80b690e6e7bb1a199f9d3f849184594ef55ea4f745596d3',
);
/** Verifies a signature over a message that the spend pushes, and keeps its state in its amount. */
export const COUNTER = program(
  '76a87c6b204df3c68074217004ad86fca1e63b91b73e625d9140063f21992231fdfdfa8936d7696c7600517f5188b4529db9cf762000000000000000000000000000000000000000000000000000000000000000008791697600d588b9bf00c38851d588765801287f030000207c7e01ac7e51c38876013001387fce51c29db9be00c29451c2940400c2eb0ba16976013801587fb9ba8876015801607fceb9bb9d7551',
  '78d0f6155b2e9645dfc3d2cd5a572a2422e0a04bc3291d379cf08bb8f11049b9',
  '4112b43a7d60e032d827d1b77c811f76cde2ae675bb6eb8612012041ad2bd6a8',
  '358fc9ce06243314df67b9363c402c7470889d1f93401776c4609a0b1e55c32e:0',
  'dcbd036cf4be629331b04c446f1ccec5c41dc5396e6cfb92a0b3bf8f15f5d0cf',
);

export const CHAIN_PROGRAMS = [COLLECTION, OTHER_COLLECTION, COUNTER];
