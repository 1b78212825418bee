/** Labels by measured behaviour (docs/labels.md): never part of a tag. */
import { z } from 'zod';

export const automaticLabels = z.array(z.string()).meta({
  description:
    'What the address does on the chain, by measurement, sorted: `dormant`, `dust-sweeper`, `exchange-like`, `miner`, `reused`; later versions may have others. They say nothing of who its owner is',
});
