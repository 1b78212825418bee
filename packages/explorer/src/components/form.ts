/** Forms and the keyboard. */

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

/** Whether keys go into a field, and are no shortcuts. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
