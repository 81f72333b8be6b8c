import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DefaultTheme, MarkdownEnv, MarkdownRenderer } from 'vitepress';
import { withMermaid } from 'vitepress-plugin-mermaid';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { version: string };
const repository = 'https://github.com/connected-vehicle/node-red';

const pages = (...entries: [text: string, page: string][]): DefaultTheme.SidebarItem[] =>
  entries.map(([text, page]) => ({ text, link: `/${page}` }));

/** The pages of the recipes, in the order of the examples. */
const recipes: DefaultTheme.SidebarItem[] = ['Basics', 'Watch', 'Command', 'Charging', 'Bridge'].map((folder) => ({
  text: folder,
  // Without a link, the group is a button in a button, which a screen reader cannot tell apart.
  link: `/recipes#${folder.toLowerCase()}`,
  collapsed: true,
  items: readdirSync(join(root, 'examples', folder))
    .toSorted()
    .map((file) => file.slice(3).replace('.json', ''))
    .map((name) => ({ text: name, link: `/recipes/${name.toLowerCase().replaceAll(/\W+/g, '-')}` })),
}));

const sidebar: DefaultTheme.SidebarItem[] = [
  {
    text: 'Start',
    items: pages(
      ['Install and try', 'start'],
      ['Connect a Volvo', 'volvo'],
      ['Home Assistant add-on', 'home-assistant'],
      ['Which cars', 'cars'],
      ['Which node?', 'choose'],
    ),
  },
  {
    text: 'Nodes',
    items: pages(
      ['car status', 'nodes/status'],
      ['car command', 'nodes/command'],
      ['car result', 'nodes/result'],
      ['car guard', 'nodes/guard'],
      ['car event', 'nodes/event'],
      ['car condition', 'nodes/condition'],
      ['Vehicle configuration', 'nodes/vehicle'],
      ['Tab Cars', 'cars-tab'],
    ),
  },
  {
    text: 'Reference',
    items: pages(
      ['Values', 'values'],
      ['Commands', 'commands'],
      ['Scopes', 'scopes'],
      ['Quota', 'polling-and-quota'],
      ['Versions, Docker, firewall', 'compatibility'],
    ),
  },
  {
    text: 'Recipes',
    link: '/recipes',
    items: [...pages(['A window stays open', 'recipes/a-window-stays-open']), ...recipes],
  },
  {
    text: 'Help',
    items: pages(
      ['Troubleshooting', 'troubleshooting'],
      ['Errors', 'errors'],
      ['Questions and answers', 'faq'],
      ['Update, move, remove', 'update-and-remove'],
    ),
  },
  { text: 'Operation', items: pages(['Security', 'security'], ['Several Node-REDs', 'several-node-reds']) },
  {
    text: 'For maintainers',
    link: '/internals/architecture',
    collapsed: true,
    items: pages(
      ['Architecture', 'internals/architecture'],
      ['What flows rely on', 'internals/contract'],
      ['Decisions', 'internals/decisions'],
      ['Glossary', 'internals/glossary'],
      ['Shared store', 'internals/shared-store'],
      ['Simulated service', 'internals/simulator'],
      ['Tests', 'internals/tests'],
      ['Texts', 'internals/texts'],
      ['Specification', 'internals/service'],
      ['The vendor’s API', 'internals/vendor-api'],
    ),
  },
];

/** The anchors of GitHub, so that a link to a heading works in both. */
const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

/** A link alone in its paragraph that leads to an example shows the flow below it, with a button that copies it. */
const withFlows = (source: string): string =>
  source.replace(/^\[.+\]\(\.\.\/\.\.\/(examples\/[^)]+\.json)\)$/gm, (link, file: string) => {
    const flow = readFileSync(join(root, decodeURIComponent(file)), 'utf8').trim();
    return `${link}\n\n::: details The flow as text\n\`\`\`json\n${flow}\n\`\`\`\n:::`;
  });

/** A link that leaves this folder leads to the file in the repository, as of this version. */
function inRepository(href: string, page: string): string {
  if (/^([a-z]+:|#|\/)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const file = posix.join('docs', dirname(page), path);
  const isPage = file.startsWith('docs/') && file.endsWith('.md') && !file.startsWith('docs/several-node-reds/');
  return isPage ? href : `${repository}/blob/v${version}/${file}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Without the flows, whose ids and coordinates are no words to search for. */
const renderForSearch = (source: string, env: MarkdownEnv, md: MarkdownRenderer): string =>
  md.render(source, env).replaceAll(/<details class=[^]*?<\/details>/g, '');

// oxlint-disable-next-line import/no-default-export -- VitePress reads it.
export default withMermaid({
  title: 'connected-vehicle',
  titleTemplate: ':title · connected-vehicle',
  description: 'Monitor and control your car in Node-RED.',
  lang: 'en-US',
  // Below the address of each version: the workflow sets it.
  base: process.env['DOCS_BASE'] ?? '/',
  // The color of the language above a code block has too little contrast.
  head: [['style', {}, 'html:root { --vp-code-lang-color: var(--vp-c-text-2) }']],
  cleanUrls: true,
  srcExclude: ['several-node-reds/**'],
  markdown: {
    anchor: { slugify },
    config(md) {
      md.core.ruler.before('normalize', 'flows', (state) => {
        state.src = withFlows(state.src);
      });
      const open = md.renderer.rules.link_open;
      md.renderer.rules.link_open = (tokens, index, options, env: { relativePath: string }, self) => {
        const token = tokens[index];
        const href = token?.attrGet('href');
        if (typeof href === 'string') token?.attrSet('href', inRepository(href, env.relativePath));
        return open?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options);
      };
    },
  },
  themeConfig: {
    nav: [
      { text: `v${version}`, link: `${repository}/blob/v${version}/CHANGELOG.md` },
      { text: 'Flow library', link: 'https://flows.nodered.org/node/@connected-vehicle/node-red' },
    ],
    sidebar,
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        _render: renderForSearch,
        // Pages for users come first.
        miniSearch: { searchOptions: { boostDocument: (id: string) => (id.includes('/internals/') ? 0.2 : 1) } },
      },
    },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page' },
  },
});
