/** Asks for an API key where the API serves no requests without one. */
import { useState } from 'preact/hooks';
import { describeError, useKey } from '../state/api.ts';
import { readForm } from './form.ts';
import { Page } from './page.tsx';

export function KeyPrompt() {
  const [error, setError] = useState<string>();
  const [isChecking, setChecking] = useState(false);

  const submit = (event: SubmitEvent): void => {
    const { key } = readForm(event, ['key']);
    setChecking(true);
    setError(undefined);
    useKey(key).catch((reason: unknown) => {
      setError(describeError(reason));
      setChecking(false);
    });
  };

  return (
    <Page title="API key needed">
      <form class="card key-prompt" onSubmit={submit}>
        <p>This server needs an API key for every request. The key stays in this tab and is forgotten with it.</p>
        <label for="key">API key</label>
        <div class="row">
          <input
            id="key"
            name="key"
            type="password"
            autocomplete="off"
            required
            placeholder="kdp_…"
            aria-describedby="key-error"
          />
          <button type="submit" disabled={isChecking}>
            {isChecking ? 'Checking' : 'Use key'}
          </button>
        </div>
        <p id="key-error" class="error" role="alert">
          {error ?? ''}
        </p>
        <p class="muted">
          An operator creates one with <code>kasgres keys create NAME</code>.
        </p>
      </form>
    </Page>
  );
}
