/** Parses the subset of Dockerfile syntax that the project uses: stages with their instructions, continued lines joined. */

export interface Instruction {
  /** FROM, COPY, RUN … */
  name: string;
  text: string;
}

export interface Stage {
  name: string;
  /** The image or stage that it starts from. */
  from: string;
  instructions: Instruction[];
}

/** @throws if a line is no instruction, comment or empty line, or comes before the first FROM */
export function parseDockerfile(text: string): Stage[] {
  const stages: Stage[] = [];
  for (const line of joinedLines(text)) {
    const [, name, rest] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? [];
    if (name === undefined || rest === undefined) throw new Error(`not an instruction: ${line}`);
    if (name === 'FROM') {
      const [, from, stage] = /^(\S+)\s+AS\s+(\S+)$/.exec(rest) ?? [];
      if (from === undefined || stage === undefined) throw new Error(`a stage without a name: ${line}`);
      stages.push({ name: stage, from, instructions: [] });
    } else {
      const stage = stages.at(-1);
      if (stage === undefined) throw new Error(`before the first FROM: ${line}`);
      stage.instructions.push({ name, text: rest });
    }
  }
  return stages;
}

function joinedLines(text: string): string[] {
  return text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

export interface Copy {
  /** Stage that it copies from; undefined for the build context. */
  from: string | undefined;
  sources: string[];
  target: string;
}

export function parseCopy(text: string): Copy {
  const words = text.split(/\s+/);
  const from = words[0]?.startsWith('--from=') === true ? words.shift()?.slice('--from='.length) : undefined;
  const target = words.pop();
  if (target === undefined || words.length === 0) throw new Error(`not a COPY: ${text}`);
  return { from, sources: words, target };
}
