/** Tests texts from strangers that pages show as names. */

/**
 * Control characters, lone surrogates, line separators, and characters that change the direction of
 * text or cannot be seen, such as the Hangul filler, which is a letter. A variation selector may
 * follow a pictograph, as in most emoji.
 */
const UNSAFE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic})[\ufe0e\ufe0f]/u;

/**
 * Returns the characters that a text must not contain, such as `invisible characters (U+200B)`;
 * undefined if it is safe.
 */
export function findUnsafe(text: string): string | undefined {
  const [character] = UNSAFE.exec(text) ?? [];
  if (character === undefined) return undefined;
  const kind = /\p{Cc}/u.test(character)
    ? 'control'
    : /\p{Bidi_Control}/u.test(character)
      ? 'bidirectional control'
      : 'invisible';
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `${kind} characters (U+${code})`;
}

export const isSafeText = (text: string): boolean => !UNSAFE.test(text);
