/** The version of the flow library has no types of its own. */
declare module 'marked' {
  export const marked: { parse: (markdown: string) => string };
}
