/**
 * Schemas of clusters: names with their sources, a page of members, and the evidence for two of
 * them.
 */
import { address, addressInput, addressTag, automaticLabels, count, decimal, hash, sompi } from '@kasgres/reads';
import { z } from 'zod';
import { pageMetadata, pageQuery } from '../../../pages/page-query.ts';

export const MAX_NAMES = 20;
export const MAX_TAGS_OF_NAME = 50;
export const MAX_ATTRIBUTIONS = 20;
export const MAX_LINKS = 1000;
export const MAX_CHANGE_SUGGESTIONS = 100;

export const query = pageQuery(addressInput, {
  evidence_for: addressInput.optional().meta({
    description:
      'Another address: the response lists the transactions that put it into the same cluster, or says that it is not in it',
  }),
});

export type ClusterQuery = z.infer<typeof query>;

const attribution = z.object({
  source: z.string().meta({ description: 'Name of the tag source' }),
  creator: z.string().meta({ description: 'Creator of the source; empty if unknown' }),
  name: z.string().meta({ description: 'Name of the owner in this source, which may differ' }),
  link: z.string(),
  labels: z.array(z.string()),
  category: z.string().nullable(),
  confidence: z.string().nullable().meta({ description: 'How the source knows' }),
  confidenceLevel: z.int().min(0).max(100),
  addresses: count.meta({ description: 'Number of members with this attribution, among those looked up' }),
});

const clusterName = z.object({
  name: z.string(),
  addresses: count.meta({ description: 'Members whose own tag has this name' }),
  attributions: z.array(attribution).meta({
    description: `Attributions of members with this name, looked up for the first ${MAX_TAGS_OF_NAME} addresses that have it anywhere; at most ${MAX_ATTRIBUTIONS}`,
  }),
});

const cluster = z
  .object({
    id: address.meta({
      description: 'Address of the root member; changes when the cluster is merged into a larger one',
    }),
    size: count.meta({ description: 'Number of members; 1 for an address without a cluster' }),
    balance: sompi.meta({ description: 'Balance of all members together at the sink, in sompi' }),
    name: z.string().nullable().meta({ description: 'Null if no member has a tag, or their names differ' }),
    link: z.string().meta({ description: 'Page with more information, or empty' }),
    labels: z.array(z.string()),
    names: z.array(clusterName).meta({
      description: `Names in the tags of members, the most frequent first, at most ${MAX_NAMES}`,
    }),
    clusteredTo: z.object({ hash, blueScore: decimal, daaScore: decimal }).nullable().meta({
      description:
        'The chain block up to which transactions are clustered: some blocks below the sink, beyond the reach of most reorgs; null while there is none',
    }),
  })
  .meta({ id: 'Cluster' });

const member = z
  .object({
    address,
    balance: sompi,
    tag: addressTag.nullable().meta({ description: 'Tag of the address itself' }),
    automaticLabels,
  })
  .meta({ id: 'ClusterMember' });

const evidence = z
  .object({
    address: address.meta({ description: 'The address in `evidence_for`' }),
    isSameCluster: z.boolean(),
    links: z
      .array(
        z.object({
          transactionId: hash.nullable().meta({
            description: 'Null if the index no longer has the transaction, which is older than its retention',
          }),
          addresses: z
            .array(address)
            .length(2)
            .meta({ description: 'Two addresses whose UTXOs it spends; the second is the first of the next link' }),
          heuristic: z.literal('common-input'),
        }),
      )
      .meta({ description: 'The path from the requested address to the other one' }),
    truncated: z.boolean().meta({
      description: `Whether the path has more than ${MAX_LINKS} transactions, of which these are some, in order. Request evidence for an address in between to see more`,
    }),
  })
  .meta({ id: 'ClusterEvidence' });

const changeSuggestion = z.object({
  address,
  transactionId: hash,
  isChange: z.boolean().meta({
    description:
      'True: this address received the assumed change of a payment by the requested address. False: this address paid, and the requested address received the assumed change',
  }),
});

export const clusterPage = z.object({
  cluster,
  members: z.array(member).meta({
    description: 'In the order of the cluster, from the root on; the order changes where clusters are merged or split',
  }),
  metadata: pageMetadata,
  evidence: evidence.nullable().meta({ description: 'Only with `evidence_for`' }),
  changeSuggestions: z.array(changeSuggestion).meta({
    description: `Addresses that a weaker heuristic, if enabled, relates to the requested address; not part of the cluster. The newest ${MAX_CHANGE_SUGGESTIONS}`,
  }),
});

export type AttributionJson = z.infer<typeof attribution>;
export type ChangeSuggestionJson = z.infer<typeof changeSuggestion>;
export type ClusterJson = z.infer<typeof cluster>;
export type ClusterMemberJson = z.infer<typeof member>;
export type EvidenceJson = z.infer<typeof evidence>;
