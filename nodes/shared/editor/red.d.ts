/**
 * What the editor halves use of the editor. Written by hand because @types/node-red has no validators with a reason, no
 * labels on properties and no tie between `defaults` and the options they hold.
 */
/** A node as its flow file has it: one of an older version, or written by hand, lacks properties. */
type EditorNode<Options> = Partial<Options> & {
  id: string;
  type: string;
  _def: { defaults: Record<string, { value: unknown; type?: string }>; credentials?: object };
};

interface EditorProperty<Options, Value> {
  value: Value;
  required?: boolean;
  /** Type of the config node that the property names. */
  type?: string;
  /** Names the property in the editor's own complaints. */
  label?: string;
  /** Two declared parameters: only such a validator may return its reason as a string. */
  validate?(this: EditorNode<Options>, value: string | undefined, opt: unknown): true | string;
}

interface EditorDefinition<Options, Credentials> {
  category: string;
  categoryDescription?: string;
  color: string;
  icon: string;
  defaults: { [Name in keyof Options]-?: EditorProperty<Options, Options[Name]> };
  credentials?: {
    [Name in keyof Credentials]-?: {
      type: 'password';
      validate?(this: EditorNode<Options>, value: string | undefined, opt: unknown): true | string;
    };
  };
  inputs?: 0 | 1;
  outputs?: number;
  paletteLabel(): string;
  label(this: EditorNode<Options>): string;
  labelStyle?(this: EditorNode<Options>): string;
  inputLabels?(): string;
  outputLabels?(index: number): string;
  align?: 'right';
  /** Ours, not the editor's, of the configuration alone: what all forms share. */
  kit?: object;
  oneditprepare?(this: EditorNode<Options>): void;
  oneditsave?(this: EditorNode<Options>): void;
}

/** Of the service profiles: the interfaces that each service has. Filled in by the build. */
declare const ALIVE: Readonly<Record<string, readonly string[]>>;

/** The versions of the connected interface that serve something; `unlisted`: the specification does not have it there. */
type Routes = Partial<Record<'v1' | 'v2', { unlisted?: true }>>;

/** Reads that are alike (nodes/shared/editor/reads.ts), without the names of the columns; names and scopes with blanks between them. */
type PackedRead = readonly [
  names: string,
  scopes: string,
  routes: Routes | 0,
  group?: string,
  unit?: string,
  values?: string,
  yes?: string,
  no?: string,
];

/** Signs of the forms and what they stand for, the last one first. Filled in by the build. */
declare const ABBREVIATIONS: readonly (readonly [sign: string, spelled: string])[];

/** By theme; `connected` has the reads of the connected interface. Filled in by the build, because the tables themselves are too heavy for a form. */
declare const READS: Readonly<Record<string, readonly PackedRead[]>>;
/** The scopes of each group of connected v2. Filled in by the build. */
declare const GROUPS: Readonly<Record<string, readonly string[]>>;
/** What a form shows of the commands. Filled in by the build. */
declare const COMMANDS: Readonly<Record<string, readonly [scopes: string, routes: Routes]>>;
/** The words of the dialog, in branches: `check.good.key` is `{ check: { good: { key } } }`. Filled in by the build, in one language. */
interface DialogWords {
  readonly [part: string]: string | DialogWords;
}
declare const DIALOG_WORDS: DialogWords;

/** A node of the flows, as far as this pack's are read by each other. */
interface FlowNode {
  id: string;
  type: string;
  name?: string;
  vehicle?: string;
  read?: string;
  reads?: string[];
  command?: string;
  verify?: boolean;
  vin?: string | undefined;
  poll?: number | string;
  interface?: string;
  onlyWhileNotInUse?: boolean;
}

declare const RED: {
  i18n: { lang(): string };
  clipboard: { copyText(text: string): void };
  _(key: string, values?: Record<string, unknown>): string;
  nodes: {
    /** A node of the flows being edited, by its id. */
    node(id: string): {
      service?: string;
      vin?: string;
      polling?: string;
      shareFor?: number | string;
      requestsPerDay?: number | string;
    } | null;
    /** The definition of a type. */
    getType(type: string): object | undefined;
    /** Every node that is no configuration. */
    eachNode(callback: (node: FlowNode) => void): void;
    registerType<Options, Credentials = object>(type: string, definition: EditorDefinition<Options, Credentials>): void;
  };
};
