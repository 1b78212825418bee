export * from './dag/dag.ts';
export * from './dag/node-state.ts';
