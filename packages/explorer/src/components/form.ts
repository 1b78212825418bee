/** Reads forms. */

/** Returns the values of the named fields as text; empty ones are empty strings. */
export function readForm<Name extends string>(event: SubmitEvent, names: readonly Name[]): Record<Name, string> {
  event.preventDefault();
  const form = new FormData(event.currentTarget as HTMLFormElement);
  const values = names.map((name) => {
    const value = form.get(name);
    return [name, typeof value === 'string' ? value.trim() : ''];
  });
  return Object.fromEntries(values) as Record<Name, string>;
}
