/** Requests to the API under test, each of whose answers must be what openapi.json says of it. */
import { ApiClient, type Received } from '../node/api-client.ts';
import { faultsOf, findTemplate, type Method } from '../support/openapi.ts';

export class CheckedClient extends ApiClient {
  protected override inspect(method: Method, path: string, { status, body, headers }: Received): void {
    const template = findTemplate(method, path);
    if (template === undefined) throw new Error(`openapi.json has no ${method} ${path}`);
    const faults = faultsOf(method, template, { status, json: body, headers });
    if (faults.length === 0) return;
    throw new Error(`${method} ${path}: ${faults.join('; ')}: ${JSON.stringify(body).slice(0, 300)}`);
  }
}
