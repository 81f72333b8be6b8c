/** The version of the flow library contains no types. */
declare module 'marked' {
  export const marked: { parse: (markdown: string) => string };
}
