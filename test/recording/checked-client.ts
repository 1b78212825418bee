/** Requests to the API under test, each of whose answers must be what openapi.json says of it. */
import { ApiClient, type Received } from '../node/api-client.ts';
import { faultsOf, findTemplate, type Method } from '../api/openapi-validator.ts';

export class CheckedClient extends ApiClient {
  override async get(path: string): Promise<Received> {
    return check('get', path, await super.get(path));
  }

  override async post(path: string, body: object): Promise<Received> {
    return check('post', path, await super.post(path, body));
  }
}

function check(method: Method, path: string, answer: Received): Received {
  const template = findTemplate(method, path);
  if (template === undefined) throw new Error(`openapi.json has no ${method} ${path}`);
  const faults = faultsOf(method, template, { status: answer.status, json: answer.body, headers: answer.headers });
  if (faults.length === 0) return answer;
  throw new Error(`${method} ${path}: ${faults.join('; ')}: ${JSON.stringify(answer.body).slice(0, 300)}`);
}
