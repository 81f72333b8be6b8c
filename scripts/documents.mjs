// Where the documents of the released version are: README.md and the help link to them, because the
// flow library and npm show README.md without its repository, and the flow library takes relative
// links for files of a branch `master`, which there is not.
import { jsonOf } from './checkout.mjs';

const { version, repository } = await jsonOf('package.json');
const [, name] = /github\.com\/(.+)\.git$/.exec(repository.url);
const pages = `https://github.com/${name}/blob/`;
const pictures = `https://raw.githubusercontent.com/${name}/`;

const ownLink = new RegExp(`(!?)(\\[[^\\]]*\\])\\((?:(?:${pages}|${pictures})[^/)]+/|(?!\\w+:|#))([^)\\s]+)\\)`, 'g');

/**
 * Markdown whose links and pictures lead to the tag that the release of this version gets, whether
 * they were relative or led to another one.
 */
export const withReleasedLinks = (markdown) =>
  markdown.replace(
    ownLink,
    (_, picture, text, path) => `${picture}${text}(${picture ? pictures : pages}v${version}/${path})`,
  );

/** The name of the page and of the picture of an example. */
export const pageOfExample = (name) => name.toLowerCase().replaceAll(/\W+/g, '-');
