import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { isLong } from './long';

interface AxeResult {
  violations: { id: string; nodes: { html: string }[] }[];
}

/**
 * What axe looks for: the contrast of the colors, which is most of its work,
 * everything else, or both.
 */
type Rules = 'all' | 'colors' | 'all but colors';

/**
 * Accessibility faults that axe finds below a selector, one line each.
 * @param rules default: all but colors in the short form of a test, because few tests show colors
 * that no other one shows
 */
export async function axeFindings(
  page: Page,
  selector: string,
  rules: Rules = isLong ? 'all' : 'all but colors',
): Promise<string[]> {
  if (await page.evaluate("typeof axe === 'undefined'"))
    await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  // Node-RED's page has no height, and the tests do not draw it, so everything would be invisible
  // to axe.
  await page.evaluate("Object.assign(document.body.style, { overflow: 'visible', height: '100vh' })");
  await page.evaluate(
    "Object.assign(document.documentElement.style, { overflow: 'visible', height: '100vh', opacity: 1 })",
  );
  const options = {
    resultTypes: ['violations'],
    ...(rules === 'colors' && { runOnly: ['color-contrast'] }),
    ...(rules === 'all but colors' && { rules: { 'color-contrast': { enabled: false } } }),
  };
  // What passes would be most of the answer.
  const { violations } = (await page.evaluate(
    `axe.run(${JSON.stringify(selector)}, ${JSON.stringify(options)}).then(({ violations }) => ({ violations }))`,
  )) as AxeResult;
  await page.evaluate("document.documentElement.style.opacity = ''");
  return violations.flatMap((found) => found.nodes.map(({ html }) => `${found.id}: ${html}`));
}
