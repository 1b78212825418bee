/**
 * Arrays in requests. Each has a maximum length, and validation stops when it has collected enough
 * errors for a response.
 */
/* oxlint-disable no-underscore-dangle -- zod is extended through `_zod`, as its documentation for libraries says. */
import { z } from 'zod';
import { MAX_DETAILS } from '../http/errors.ts';
import { isPauseDue, pause } from '../http/large-bodies.ts';

interface ListDefinition extends z.core.$ZodArrayDef {
  maxItems: number;
}

interface List<T extends z.ZodType = z.ZodType> extends z.ZodArray<T> {
  _zod: z.ZodArray<T>['_zod'] & { def: ListDefinition };
}

const SYNCHRONOUS: z.core.ParseContextInternal = { async: false };

/**
 * zod's own array collects every issue of every item, which can turn a body of 200 bytes into a
 * response of 20 kB.
 */
const List: z.core.$constructor<List> = z.core.$constructor('List', (list, definition) => {
  z.ZodArray.init(list, definition);
  const parseInvalid = list._zod.parse.bind(list._zod);

  list._zod.parse = (payload, context) => {
    const items: unknown = payload.value;
    if (!Array.isArray(items) || items.length > definition.maxItems) return parseInvalid(payload, context);
    const output: unknown[] = [];
    payload.value = output;
    const parseUntil = (isDue: () => boolean): boolean => {
      while (output.length < items.length && payload.issues.length < MAX_DETAILS) {
        const item = { value: items[output.length] as unknown, issues: [] };
        const parsed = definition.element._zod.run(item, SYNCHRONOUS) as z.core.ParsePayload;
        payload.issues.push(...z.core.util.prefixIssues(output.length, parsed.issues));
        output.push(parsed.value);
        if (isDue()) return false;
      }
      return true;
    };
    // Lists within items are parsed together with their item, since each of them is short.
    const parseWithPauses = async (): Promise<z.core.ParsePayload> => {
      while (!parseUntil(isPauseDue)) await pause();
      return payload;
    };
    if (context.async === true) return parseWithPauses();
    parseUntil(() => false);
    return payload;
  };
});

export function list<T extends z.ZodType>(element: T, maxItems: number): z.ZodArray<T> {
  return new List({ type: 'array', element, maxItems, checks: [z.maxLength(maxItems)] }) as unknown as z.ZodArray<T>;
}
