/**
 * Runs in the browser, on /docs, before Scalar: shows the page, and keeps the entered key until the
 * tab is closed.
 */

// Scalar stores the key in the local storage, which outlives the tab.
const isKey = (name) => name.startsWith('scalar-reference-auth');
for (const method of ['getItem', 'setItem', 'removeItem']) {
  const original = Storage.prototype[method];
  Storage.prototype[method] = function (name, ...rest) {
    return original.call(isKey(name) ? sessionStorage : this, name, ...rest);
  };
}

// The content security policy allows style sheets with this nonce only, and Scalar passes it to
// only one of them.
const { content: nonce } = document.querySelector('meta[property=csp-nonce]');
const createElement = document.createElement.bind(document);
document.createElement = (name, ...rest) => {
  const element = createElement(name, ...rest);
  if (name === 'style') element.nonce = nonce;
  return element;
};

/** Without a key Scalar sends an empty header, which is an invalid key instead of none. */
const send = (input, init) => {
  const request = new Request(input, init);
  if (request.headers.get('x-api-key') === '') request.headers.delete('x-api-key');
  return fetch(request);
};

/** The menu of samples stays short. */
const hiddenClients = {
  ...Object.fromEntries(
    ['c', 'clojure', 'dart', 'fsharp', 'http', 'julia', 'kotlin', 'node', 'objc', 'ocaml', 'php']
      .concat(['powershell', 'r', 'ruby', 'swift'])
      .map((language) => [language, true]),
  ),
  csharp: ['restsharp'],
  java: ['asynchttp', 'okhttp', 'unirest'],
  js: ['axios', 'jquery', 'ofetch', 'xhr'],
  python: ['aiohttp', 'httpx_async', 'httpx_sync', 'python3'],
  shell: ['httpie', 'wget'],
};

document.addEventListener('DOMContentLoaded', () => {
  window.Scalar.createApiReference('#app', {
    url: '/docs/json',
    baseServerURL: window.location.origin,
    authentication: { preferredSecurityScheme: 'apiKey' },
    persistAuth: true,
    customFetch: send,

    // Services of other hosts.
    agent: { disabled: true },
    mcp: { disabled: true },
    telemetry: false,
    withDefaultFonts: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    proxyUrl: '',

    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    featuredClients: ['shell/curl', 'js/fetch', 'python/requests'],
    hiddenClients,
    documentDownloadType: 'direct',
    orderSchemaPropertiesBy: 'preserve',
    orderRequiredPropertiesFirst: false,
    showOperationId: true,
    showExtensions: ['x-request-cost-ru'],
    generateOperationSlug: ({ operationId }) => operationId,
    setPageTitle: ({ title }) => (title === 'Kasgres' ? 'Kasgres API' : `${title} · Kasgres API`),
  });
});
