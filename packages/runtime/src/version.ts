import packageJson from '../package.json' with { type: 'json' };

/** Every package has the same version (docs/versions.md). */
export const VERSION: string = packageJson.version;
