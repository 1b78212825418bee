/** Tests texts from strangers that pages show as names. */

/**
 * Control characters, lone surrogates, line separators, and characters that change the direction of text or cannot be seen, such as the Hangul
 * filler, which is a letter. A variation selector may follow a pictograph, as in most emoji.
 */
const UNSAFE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic})[\ufe0e\ufe0f]/u;

export const isSafeText = (text: string): boolean => !UNSAFE.test(text);
