/** The tag of an address (api-spec.md §2). */
import { z } from 'zod';
import { address } from './values.ts';

export const addressTag = z
  .object({
    address,
    name: z.string(),
    link: z.string().meta({ description: 'Where to read more; empty when there is nothing' }),
    labels: z.array(z.string()),
  })
  .meta({ id: 'AddressTag' });
