/** Arrays in requests. Each has a maximum length, and validation stops when it has collected enough errors for a response. */
/* oxlint-disable no-underscore-dangle -- zod is extended through `_zod`, as its documentation for libraries says. */
import { z } from 'zod';
import { isPauseDue, pause } from '../http/large-bodies.ts';

/** Details of one error response. */
export const MAX_DETAILS = 20;

interface ListDefinition extends z.core.$ZodArrayDef {
  maxItems: number;
}

interface List<T extends z.ZodType = z.ZodType> extends z.ZodArray<T> {
  _zod: z.ZodArray<T>['_zod'] & { def: ListDefinition };
}

const SYNCHRONOUS: z.core.ParseContextInternal = { async: false };

/** zod's array collects every issue of every item: 200 bytes of a body may become 20 kB. */
const List: z.core.$constructor<List> = z.core.$constructor('List', (list, definition) => {
  z.ZodArray.init(list, definition);
  const parseInvalid = list._zod.parse.bind(list._zod);

  list._zod.parse = (payload, context) => {
    const items: unknown = payload.value;
    if (!Array.isArray(items) || items.length > definition.maxItems) return parseInvalid(payload, context);
    payload.value = [];
    return context.async === true ? parseWithPauses(payload, items) : parseFrom(0, payload, items, () => false);
  };

  function parseFrom(start: number, payload: z.core.ParsePayload, items: readonly unknown[], isDone: () => boolean) {
    const output = payload.value as unknown[];
    for (let index = start; index < items.length && payload.issues.length < MAX_DETAILS; index += 1) {
      const parsed = definition.element._zod.run(
        { value: items[index], issues: [] },
        SYNCHRONOUS,
      ) as z.core.ParsePayload;
      if (parsed.issues.length > 0) payload.issues.push(...z.core.util.prefixIssues(index, parsed.issues));
      output.push(parsed.value);
      if (isDone()) break;
    }
    return payload;
  }

  /** Lists within items are parsed together with their item, since each of them is short. */
  async function parseWithPauses(payload: z.core.ParsePayload, items: readonly unknown[]) {
    const output = payload.value as unknown[];
    parseFrom(0, payload, items, isPauseDue);
    while (output.length < items.length && payload.issues.length < MAX_DETAILS) {
      await pause();
      parseFrom(output.length, payload, items, isPauseDue);
    }
    return payload;
  }
});

export function list<T extends z.ZodType>(element: T, maxItems: number): z.ZodArray<T> {
  return new List({ type: 'array', element, maxItems, checks: [z.maxLength(maxItems)] }) as unknown as z.ZodArray<T>;
}
