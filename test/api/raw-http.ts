import { once } from 'node:events';
import { connect } from 'node:net';

export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Sends bytes that no HTTP library would send, and returns the response after the server closed the connection. */
export async function sendRaw(url: string, text: string): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = '';
  socket.on('data', (data) => {
    received += data.toString();
  });
  // The server may reset the connection if it refuses a request before its end.
  socket.on('error', () => {});
  socket.write(text);
  await once(socket, 'close');
  return parse(received);
}

function parse(text: string): RawResponse {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [name = '', value = ''] = line.toLowerCase().split(/: */, 2);
    headers[name] = value;
  }
  return { status: Number(statusLine.split(' ')[1]), headers, body };
}
