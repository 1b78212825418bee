/**
 * Defines the two functions of ECMAScript 2024 that the programs call and Node 20 lacks. `tsc -p
 * release` fails if a program calls another one.
 */
const withResolvers = <T>(): PromiseWithResolvers<T> => {
  const resolvers: Partial<PromiseWithResolvers<T>> = {};
  const promise = new Promise<T>((resolve, reject) => Object.assign(resolvers, { resolve, reject }));
  return Object.assign(resolvers as PromiseWithResolvers<T>, { promise });
};

const groupBy = <Key, Item>(items: Iterable<Item>, keyOf: (item: Item, index: number) => Key): Map<Key, Item[]> => {
  const groups = new Map<Key, Item[]>();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index);
    index += 1;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
};

if (!('withResolvers' in Promise)) Object.assign(Promise, { withResolvers });
if (!('groupBy' in Map)) Object.assign(Map, { groupBy });
