/** Whether a script is that of most payments, which is seen without reading it. */
export function isPublicKeyScript(script: Uint8Array): boolean {
  return script.length === 34 && script[0] === 0x20 && script[33] === 0xac;
}
