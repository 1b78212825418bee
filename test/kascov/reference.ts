/**
 * Builds a program against the published crate kascov-decode in a temporary folder, and runs it on
 * the crate's fixtures. Nothing of the crate is part of this project.
 */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const CRATE = 'kascov-decode';
const VERSION = '0.1.0';
const MAX_OUTPUT_BYTES = 2 ** 28;
const run = promisify(execFile);

const MANIFEST = `[package]
name = "kasgres-reference"
version = "0.0.0"
edition = "2021"

[dependencies]
${CRATE} = "=${VERSION}"
`;

/**
 * Prints what the crate says about a file: `program FILE`, or `spend FILE SCRIPT_HEX` for a
 * signature script.
 */
const SOURCE = `use kascov_decode::{disasm::disassemble, encode_push, kcc1, p2sh_reveal};
use std::io::Write;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let bytes = std::fs::read(&arguments[2]).unwrap();
    if arguments[1] == "spend" {
        println!("{}", p2sh_reveal(&unhex(&arguments[3]), &bytes).map_or("none".into(), |program| hex(&program)));
        return;
    }
    let script = kcc1::envelope_spk(&bytes);
    let spend = [encode_push(&[7; 64]), encode_push(&bytes)].concat();
    let (instructions, truncated) = disassemble(&bytes);
    let (third, half) = (bytes.len() / 3, bytes.len() / 2);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(out, "{}", hex(&script)).unwrap();
    writeln!(out, "{}", hex(&spend)).unwrap();
    writeln!(out, "{}", p2sh_reveal(&script, &spend).as_deref() == Some(&bytes[..])).unwrap();
    writeln!(out, "{}", hex(&kcc1::template_hash(&bytes[..third], &bytes[half..]))).unwrap();
    writeln!(out, "{truncated}").unwrap();
    for i in instructions {
        writeln!(out, "{} {} {} {}", i.offset, i.opcode, i.name, i.data.map_or("-".into(), |data| hex(&data))).unwrap();
    }
}
`;

export interface ProgramFacts {
  /** The P2SH script that commits to the program. */
  script: string;
  /** A signature script that reveals it, and whether the crate finds it there. */
  spend: string;
  isRevealed: boolean;
  /** KCC-1's template hash for a state from a third to half of the bytes. */
  kccTemplate: string;
  isTruncated: boolean;
  /** A line for each instruction: offset, opcode, name, data. */
  listing: string[];
}

export interface Reference {
  /** The binary fixtures, and the folder that has them. */
  folder: string;
  files: string[];
  describe(file: string): Promise<ProgramFacts>;
  /** Returns the program that a signature script reveals, in hex. */
  reveal(file: string, script: string): Promise<string>;
  remove(): Promise<void>;
}

/** Returns why there is none, if cargo or the crate cannot be had. */
export async function buildReference(): Promise<Reference | { missing: string }> {
  try {
    await run('cargo', ['--version']);
  } catch {
    return { missing: 'cargo is not on the PATH' };
  }
  const folder = await mkdtemp(join(tmpdir(), 'kasgres-kascov-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'src'));
  await writeFile(join(folder, 'Cargo.toml'), MANIFEST);
  await writeFile(join(folder, 'src/main.rs'), SOURCE);
  try {
    await run('cargo', ['fetch', '--quiet'], { cwd: folder });
  } catch (error) {
    await remove();
    return {
      missing: `${CRATE} ${VERSION} cannot be fetched: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  await run('cargo', ['build', '--quiet'], { cwd: folder });
  const binary = join(folder, 'target/debug/kasgres-reference');
  const crate = await findCrate(folder);
  const files = globSync('fixtures/**/*.bin', { cwd: crate }).sort();
  const ask = async (...words: string[]): Promise<string[]> =>
    (await run(binary, words, { maxBuffer: MAX_OUTPUT_BYTES })).stdout.trimEnd().split('\n');
  return {
    folder: crate,
    files,
    remove,
    async describe(file) {
      const [script = '', spend = '', isRevealed, kccTemplate = '', isTruncated, ...listing] = await ask(
        'program',
        join(crate, file),
      );
      return {
        script,
        spend,
        isRevealed: isRevealed === 'true',
        kccTemplate,
        isTruncated: isTruncated === 'true',
        listing,
      };
    },
    async reveal(file, script) {
      return (await ask('spend', join(crate, file), script)).join('');
    },
  };
}

async function findCrate(folder: string): Promise<string> {
  const { stdout } = await run('cargo', ['metadata', '--format-version', '1'], {
    cwd: folder,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  const { packages } = JSON.parse(stdout) as { packages: { name: string; manifest_path: string }[] };
  const found = packages.find(({ name }) => name === CRATE);
  if (found === undefined) throw new Error(`cargo metadata does not list ${CRATE}`);
  return dirname(found.manifest_path);
}
