/**
 * The pages by path. The API serves the document for these paths only
 * (packages/api/src/explorer/explorer.ts).
 */
import type { ComponentChildren } from 'preact';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { KeyPrompt } from './components/key-prompt.tsx';
import { Page } from './components/page.tsx';
import { Shell } from './components/shell.tsx';
import { AddressPage } from './pages/address.tsx';
import { BlockPage } from './pages/block.tsx';
import { BlocksPage } from './pages/blocks.tsx';
import { ChartsPage } from './pages/charts.tsx';
import { CovenantPage } from './pages/covenant.tsx';
import { CovenantsPage } from './pages/covenants.tsx';
import { HomePage } from './pages/home.tsx';
import { LanePage, LanesPage } from './pages/lanes.tsx';
import { MempoolPage } from './pages/mempool.tsx';
import { MinersPage } from './pages/miners.tsx';
import { ProgramPage } from './pages/program.tsx';
import { ProtocolsPage } from './pages/protocols.tsx';
import { RichListPage } from './pages/rich-list.tsx';
import { StatusPage } from './pages/status.tsx';
import { TagPage, TagsPage } from './pages/tags.tsx';
import { TemplatePage, TemplatesPage } from './pages/templates.tsx';
import { TransactionPage } from './pages/transaction.tsx';
import { TransactionsPage } from './pages/transactions.tsx';
import { apiKey, describeError, needsKey } from './state/api.ts';
import { forgetData } from './state/resource.ts';

/** Other paths are served by the API itself. */
const SCOPE = /^\/(?!docs|openapi|v1|rest)/;

function Pages() {
  return (
    <Router>
      <Route path="/" component={HomePage} />
      <Route path="/blocks" component={BlocksPage} />
      <Route path="/blocks/:hash" component={BlockPage} />
      <Route path="/transactions" component={TransactionsPage} />
      <Route path="/transactions/:transactionId" component={TransactionPage} />
      <Route path="/addresses/:address" component={AddressPage} />
      <Route path="/covenants" component={CovenantsPage} />
      <Route path="/covenants/:covenantId" component={CovenantPage} />
      <Route path="/programs/:programHash" component={ProgramPage} />
      <Route path="/templates" component={TemplatesPage} />
      <Route path="/templates/:template" component={TemplatePage} />
      <Route path="/lanes" component={LanesPage} />
      <Route path="/lanes/:namespace" component={LanePage} />
      <Route path="/protocols" component={ProtocolsPage} />
      <Route path="/tags" component={TagsPage} />
      <Route path="/tags/:name" component={TagPage} />
      <Route path="/rich-list" component={RichListPage} />
      <Route path="/mempool" component={MempoolPage} />
      <Route path="/miners" component={MinersPage} />
      <Route path="/charts" component={ChartsPage} />
      <Route path="/status" component={StatusPage} />
      <Route default component={NotFoundPage} />
    </Router>
  );
}

function NotFoundPage() {
  return (
    <Page title="Page not found">
      <div class="notice">
        <p>This explorer has no page at this address. Search for a hash, an address, a score or a name above.</p>
        <a class="button" href="/">
          Show the DAG
        </a>
      </div>
    </Page>
  );
}

/** Shows what is wrong instead of a page that cannot be rendered, until another one is opened. */
function Recoverable({ children }: { children: ComponentChildren }) {
  const { url } = useLocation();
  const [error, reset] = useErrorBoundary((thrown: unknown) => {
    console.error(thrown);
    forgetData();
  }) as [unknown, () => void];
  useEffect(reset, [url]);
  if (error === undefined) return <>{children}</>;
  return (
    <Page title="This page failed">
      <div class="notice" role="alert">
        <p>It cannot show what the server sent. If the server was updated meanwhile, loading it again helps.</p>
        <p>{describeError(error)}</p>
        <button type="button" onClick={() => location.reload()}>
          Load again
        </button>
      </div>
    </Page>
  );
}

export function App() {
  return (
    <LocationProvider scope={SCOPE}>
      <Shell>
        <Recoverable>{needsKey.value ? <KeyPrompt /> : <Pages key={apiKey.value ?? ''} />}</Recoverable>
      </Shell>
    </LocationProvider>
  );
}
