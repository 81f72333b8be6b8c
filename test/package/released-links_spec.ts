import { strict as assert } from 'node:assert';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { marked } from 'marked';
import { anchorsOf, filesBelow, packageJson, readText, root } from './checkout';

const { repository, homepage, bugs, version } = packageJson as typeof packageJson & {
  repository: { url: string };
  homepage: string;
  bugs: { url: string };
};
const [, name = ''] = /^git\+https:\/\/github\.com\/(.+)\.git$/.exec(repository.url) ?? [];
const home = `https://github.com/${name}`;

/** A file of the repository at the tag of a release, in its own page or as it is. */
const released = new RegExp(
  `^https://(?:github\\.com/${name}/blob|raw\\.githubusercontent\\.com/${name})/([^/]+)/([^#]+)(?:#(.+))?$`,
);

/** Why a link is dead for a user of this version; undefined if it works. */
function faultOf(address: string): string | undefined {
  const [, tag, path = '', anchor] = released.exec(address) ?? [];
  if (tag === undefined) return address.startsWith('https://') ? undefined : 'is no address of the Web';
  if (tag !== `v${version}`) return 'is not of this version';
  if (!existsSync(join(root, path))) return 'does not exist';
  return anchor !== undefined && !anchorsOf(path).includes(anchor) ? 'has no such heading' : undefined;
}

const faultsOf = (addresses: string[]): string[] =>
  addresses.flatMap((address) => {
    const fault = faultOf(address);
    return fault === undefined ? [] : [`${address} ${fault}`];
  });

/**
 * A document as flows.nodered.org shows it: what is relative is looked for in the branch `master`.
 */
const asLibraryShows = (markdown: string): string =>
  marked
    .parse(markdown)
    .replace(/(<img [^>]*?src|<a href)="([^"]*)"/g, (whole, attribute: string, address: string) =>
      /^(https?:|#)/.test(address)
        ? whole
        : attribute === '<a href' && address.endsWith('.md')
          ? `${attribute}="${home}/blob/master//${address}"`
          : `${attribute}="https://raw.githubusercontent.com/${name}/master/${address}"`,
    );

const addressesIn = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address);

describe('The links of what is released', () => {
  it('lead on from README.md as the flow library shows it; `npm run readme` writes them', () => {
    const page = asLibraryShows(readText('README.md'));
    const addresses = addressesIn(page);
    const within = addresses.filter((address) => address.startsWith('#'));
    assert.deepEqual(
      within.filter((address) => !page.includes(`id="${address.slice(1)}"`)),
      [],
    );
    assert.deepEqual(faultsOf(addresses.filter((address) => !within.includes(address))), []);
    assert.ok(page.includes(`<img src="https://raw.githubusercontent.com/${name}/v${version}/docs/images/`));
  });

  it('of README.md to other places are these, which are looked at before a release', () => {
    const addresses = addressesIn(asLibraryShows(readText('README.md')));
    assert.deepEqual(addresses.filter((address) => !released.test(address)).sort(), [
      'https://developer.volvocars.com/',
      home,
    ]);
  });

  it('lead on from the help of each node, in each language', () => {
    const helps = filesBelow('dist/nodes/locales').filter((file) => file.endsWith('.html'));
    for (const file of helps) {
      const addresses = [...readText(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, address = '']) => address);
      assert.ok(
        addresses.some((address) => released.test(address)),
        file,
      );
      assert.deepEqual(faultsOf(addresses), [], file);
    }
    assert.ok(helps.length >= 21);
  });

  it('are found dead if they are dead in the flow library', () => {
    const page = asLibraryShows('![Car](docs/images/cars-tab.png) [Start](docs/start.md) [License](LICENSE#top)');
    assert.equal(faultsOf(addressesIn(page)).length, 3);
    assert.deepEqual(
      faultsOf([`${home}/blob/v${version}/docs/start.md#nothing`, `${home}/blob/v${version}/start.md`]),
      [
        `${home}/blob/v${version}/docs/start.md#nothing has no such heading`,
        `${home}/blob/v${version}/start.md does not exist`,
      ],
    );
  });

  it('lead from package.json to the repository, its README and its issues', () => {
    assert.deepEqual([homepage, bugs.url], [`${home}#readme`, `${home}/issues`]);
  });
});
