/** The shared worker: one hub for all pages of this origin. */
import { StreamHub } from './hub.ts';
import type { ToHub } from './messages.ts';

interface Scope {
  location: Location;
  addEventListener: (type: 'connect', listener: (event: MessageEvent) => void) => void;
}

const scope = globalThis as unknown as Scope;
const hub = new StreamHub(scope.location.origin);

scope.addEventListener('connect', ({ ports: [port] }) => {
  if (port === undefined) return;
  const connection = hub.connect((message) => port.postMessage(message));
  port.addEventListener('message', ({ data }: MessageEvent<ToHub>) => {
    if (data.type === 'close') connection.close();
    else connection.update(data.state);
  });
  port.start();
});
