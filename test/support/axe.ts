import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

interface AxeResult {
  violations: { id: string; nodes: { html: string }[] }[];
}

/** Accessibility faults that axe finds below a selector, one line each. @param rules all of them where none are named */
export async function axeFindings(page: Page, selector: string, ...rules: string[]): Promise<string[]> {
  if (await page.evaluate("typeof axe === 'undefined'"))
    await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  // Node-RED's page has no height of its own, so axe would take everything for invisible.
  await page.evaluate("Object.assign(document.body.style, { overflow: 'visible', height: '100vh' })");
  await page.evaluate("Object.assign(document.documentElement.style, { overflow: 'visible', height: '100vh' })");
  const options = { resultTypes: ['violations'], ...(rules.length > 0 && { runOnly: rules }) };
  // What passes would be most of the answer.
  const { violations } = (await page.evaluate(
    `axe.run(${JSON.stringify(selector)}, ${JSON.stringify(options)}).then(({ violations }) => ({ violations }))`,
  )) as AxeResult;
  return violations.flatMap((found) => found.nodes.map(({ html }) => `${found.id}: ${html}`));
}
