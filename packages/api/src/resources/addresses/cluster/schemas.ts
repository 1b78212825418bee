/** What is told of a cluster: its sums, its names and who gives them, a page of its members, and why two of them are together. */
import { z } from 'zod';
import { pageMetadata, pageQuery } from '../../../pages/page-query.ts';
import { automaticLabels } from '../../../schemas/automatic-labels.ts';
import { addressTag } from '../../../schemas/tag.ts';
import { address, addressInput, count, decimal, hash, sompi } from '../../../schemas/values.ts';

/** A cluster with more names than that is wrong anyway. */
export const MAX_NAMES = 20;
/** Of each name, so many tags are looked at for who says so. */
export const MAX_TAGS_OF_NAME = 50;
/** Of each name. */
export const MAX_ATTRIBUTIONS = 20;
export const MAX_LINKS = 1000;
export const MAX_CHANGE_SUGGESTIONS = 100;

export const params = z.strictObject({ address: addressInput });

export const query = pageQuery(addressInput, {
  evidence_for: addressInput.optional().meta({
    description: 'Another address: the answer says by which transactions it is in the same cluster, or that it is not',
  }),
});

const attribution = z.object({
  source: z.string().meta({ description: 'Name of the source that says so' }),
  creator: z.string().meta({ description: 'Who made the source; empty when it does not say' }),
  name: z.string().meta({ description: 'As this source calls the owner, which may be otherwise' }),
  link: z.string(),
  labels: z.array(z.string()),
  category: z.string().nullable(),
  confidence: z.string().nullable().meta({ description: 'How the source knows, in its words' }),
  confidenceLevel: z.int().min(0).max(100),
  addresses: count.meta({ description: `Of how many members it says so, among those that were looked at` }),
});

const clusterName = z.object({
  name: z.string(),
  addresses: count.meta({ description: 'Members whose own tag has this name' }),
  attributions: z.array(attribution).meta({
    description: `Who says what of members with this name: of those among the first ${MAX_TAGS_OF_NAME} addresses that have the name anywhere; the first ${MAX_ATTRIBUTIONS}`,
  }),
});

const cluster = z
  .object({
    id: address.meta({
      description: 'Address of the member at the root; it changes when the cluster becomes part of a larger one',
    }),
    size: count.meta({ description: 'Number of members; 1 for an address that stands alone' }),
    balance: sompi.meta({ description: 'What all members hold together at the sink, in sompi' }),
    name: z.string().nullable().meta({ description: "Null while nobody knows, or the members' tags do not agree" }),
    link: z.string().meta({ description: 'Where to read more; empty when there is nothing' }),
    labels: z.array(z.string()),
    names: z.array(clusterName).meta({
      description: `Every name that tags of members give, up to ${MAX_NAMES}, first what most say: more than one, and they do not agree`,
    }),
    clusteredTo: z.object({ hash, blueScore: decimal, daaScore: decimal }).nullable().meta({
      description:
        'The chain block up to which accepted transactions are clustered: some way below the sink, where reorganisations have ended; null before the first',
    }),
  })
  .meta({ id: 'Cluster' });

const member = z
  .object({
    address,
    balance: sompi,
    tag: addressTag.nullable().meta({ description: 'Its own' }),
    automaticLabels,
  })
  .meta({ id: 'ClusterMember' });

const evidence = z
  .object({
    address: address.meta({ description: 'The one that was asked for' }),
    isSameCluster: z.boolean(),
    links: z
      .array(
        z.object({
          transactionId: hash,
          addresses: z
            .array(address)
            .length(2)
            .meta({ description: 'Two addresses that it has inputs of; the second is the first of the next link' }),
          heuristic: z.literal('common-input'),
        }),
      )
      .meta({ description: 'The way from the address of the path to the other one' }),
    truncated: z.boolean().meta({
      description: `Whether the way has more than ${MAX_LINKS} transactions, of which these are some, in order. Evidence for an address between shows more`,
    }),
  })
  .meta({ id: 'ClusterEvidence' });

const changeSuggestion = z.object({
  address,
  transactionId: hash,
  isChange: z.boolean().meta({
    description:
      'True: this is the address of the output that is taken for change, where the address of the path pays. False: this one pays, and the address of the path is taken for its change',
  }),
});

export const clusterPage = z.object({
  cluster,
  members: z.array(member).meta({
    description:
      'Along the ring of the cluster, from the root on; the order changes where two clusters become one, or are parted again',
  }),
  metadata: pageMetadata,
  evidence: evidence.nullable().meta({ description: 'Only with `evidence_for`' }),
  changeSuggestions: z.array(changeSuggestion).meta({
    description: `What a weaker heuristic supposes of the address of the path, where it is switched on; no part of the cluster. The newest ${MAX_CHANGE_SUGGESTIONS}`,
  }),
});

export type ClusterPageJson = z.infer<typeof clusterPage>;
export type ClusterJson = z.infer<typeof cluster>;
export type ClusterMemberJson = z.infer<typeof member>;
export type ClusterNameJson = z.infer<typeof clusterName>;
export type AttributionJson = z.infer<typeof attribution>;
export type EvidenceJson = z.infer<typeof evidence>;
