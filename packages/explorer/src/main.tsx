import './styles/base.css';
import './styles/parts.css';
import './styles/controls.css';
import './styles/dag.css';
import './styles/programs.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { startStream } from './stream/stream.ts';

startStream();
render(<App />, document.getElementById('app') as HTMLElement);
