import { z } from 'zod';
import { MAX_DETAILS } from '../http/errors.ts';

/** The body of each error response. */
export const errorEnvelope = z
  .object({
    statusCode: z.int(),
    message: z.string(),
    details: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .max(MAX_DETAILS)
      .optional()
      .meta({ description: 'Only with status 400: the invalid fields and their errors, up to a limit' }),
  })
  .meta({ id: 'Error' });

export type ErrorEnvelope = z.infer<typeof errorEnvelope>;
