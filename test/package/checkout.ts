import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where the sources are; the compiled tests are two folders below, in dist/test. */
export const root = resolve(__dirname, '../../..');

export const readText = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The anchors that GitHub gives to the headings of a document, and those that it sets itself. */
export function anchorsOf(document: string): string[] {
  const text = readText(document);
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return [...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)];
}

/**
 * Every file below a folder of the checkout, as paths from its root, with slashes on each system.
 */
export const filesBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/'),
    )
    // docs/ is its own package, with what builds the site.
    .filter((file) => !file.includes('/node_modules/'))
    .sort();

export interface PackageJson {
  name: string;
  version: string;
  'node-red': { version: string; nodes: Record<string, string> };
  [field: string]: unknown;
}

export const packageJson = JSON.parse(readText('package.json')) as PackageJson;

/** The types of the nodes, the config node's first. */
export const nodeTypes = Object.keys(packageJson['node-red'].nodes);

/** A node as a flow file holds it. */
export interface FlowNode {
  id: string;
  type: string;
  z?: string;
  wires?: string[][];
  [property: string]: unknown;
}

export interface Example {
  name: string;
  nodes: FlowNode[];
}

export const examples: Example[] = filesBelow('examples').map((file) => ({
  name: file.replace(/^examples\/(.*)\.json$/, '$1'),
  nodes: JSON.parse(readText(file)) as FlowNode[],
}));
