import { useMemo } from 'preact/hooks';
import { Card, Facts, Load, Page } from '../components/page.tsx';
import { CopyButton, HashLink, PlainHash, Time } from '../components/values.tsx';
import { bytesOfHex, formatCount, shortHash } from '../format.ts';
import { DisassemblyCard } from '../programs/disassembly.tsx';
import { ProgramNames } from '../programs/names.tsx';
import { Uses } from '../programs/uses.tsx';
import { useResource } from '../state/resource.ts';

export function ProgramPage({ programHash: hash }: { programHash: string }) {
  const resource = useResource(`program ${hash}`, async (client) => {
    const query = { include: 'bytes' } as const;
    return (await client.get('/v1/programs/{hash}', { params: { path: { hash }, query } })).program;
  });
  const hex = resource.data?.bytes;
  const bytes = useMemo(() => (hex == null ? undefined : bytesOfHex(hex)), [hex]);
  return (
    <Page
      title={`Program ${shortHash(hash)}`}
      heading={
        <>
          Program {resource.data?.isBare === true && <span class="badge quiet">output script</span>}
          {bytes !== undefined && resource.data?.template != null && (
            <ProgramNames hash={hash} bytes={bytes} template={resource.data.template} />
          )}
          <span class="subject mono">
            {hash} <CopyButton value={hash} label="program hash" />
          </span>
        </>
      }
    >
      <Load resource={resource} rows={16} notFound="No such program is indexed.">
        {(program) => (
          <>
            <Card title="Summary">
              <Facts
                facts={[
                  [
                    'Template',
                    program.template === null ? (
                      <span class="muted">none, since it does not parse</span>
                    ) : (
                      <HashLink kind="template" hash={program.template} isLong />
                    ),
                  ],
                  program.kccTemplate !== null && [
                    'KCC-1 template',
                    <PlainHash hash={program.kccTemplate} label="KCC-1 template" />,
                  ],
                  ['Uses', <Uses uses={program.uses} />],
                  ['Length', `${formatCount(program.length)} bytes`],
                  ['Spends', formatCount(program.spendCount)],
                  [
                    program.isBare ? 'First created' : 'First revealed',
                    <span class="named">
                      <Time ms={program.firstSeen} />
                      {program.firstRevealed === null ? (
                        <span class="muted">in a transaction that is no longer kept</span>
                      ) : (
                        <>
                          by {program.firstRevealed.source} {program.firstRevealed.index} of{' '}
                          <HashLink kind="transaction" hash={program.firstRevealed.transactionId} />
                        </>
                      )}
                    </span>,
                  ],
                  hex != null && [
                    'Bytes',
                    <span class="value">
                      <span class="mono">{shortHash(hex)}</span>
                      <CopyButton value={hex} label="bytes in hex" />
                    </span>,
                  ],
                ]}
              />
            </Card>
            {bytes === undefined ? (
              <p class="notice">The bytes of this program are no longer kept, since old transactions are removed.</p>
            ) : (
              <DisassemblyCard hash={hash} bytes={bytes} template={program.template} />
            )}
          </>
        )}
      </Load>
    </Page>
  );
}
