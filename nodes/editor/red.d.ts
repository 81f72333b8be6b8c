/**
 * The part of the editor API that the forms use. Written by hand because @types/node-red has no
 * validators with a reason, no labels on properties and no tie between `defaults` and the options
 * they hold.
 */
/**
 * A node as its flow file has it: one of an older version, or written by hand, lacks properties.
 */
type EditorNode<Options> = Partial<Options> & {
  id: string;
  type: string;
  /** The tab. */
  z?: string;
  /** As the form left them; a stored secret is only `has_<name>`. */
  credentials?: Readonly<Record<string, unknown>>;
  _def: { category: string; defaults: Record<string, { value: unknown; type?: string }>; credentials?: object };
};

type CarConfig = Pick<EditorNode<{ service: string }>, 'id' | 'type' | 'z' | 'service' | 'credentials'> & {
  /** Disabled. */
  d?: boolean;
};

interface EditorProperty<Options, Value> {
  value: Value;
  /** Type of the config node that the property names. */
  type?: string;
  /** Names the property in the editor's own error messages. */
  label?: string;
  /** Two declared parameters: only such a validator may return its reason as a string. */
  validate?(
    this: EditorNode<Options>,
    /** The text of the field; a list as it is stored, because it has no field. */
    value: (Value extends readonly unknown[] ? Value : string) | undefined,
    opt: unknown,
  ): true | string;
}

interface EditorDefinition<Options, Credentials> {
  category: string;
  categoryDescription?: string;
  color: string;
  icon: string;
  defaults: { [Name in keyof Options]-?: EditorProperty<Options, Options[Name]> };
  credentials?: {
    [Name in keyof Credentials]-?: {
      type: 'password' | 'text';
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
  onpaletteadd?(): void;
  /** Called when a node is dragged out of the palette, and when one is pasted. */
  onadd?(this: EditorNode<Options>): void;
  oneditprepare?(this: EditorNode<Options>): void;
  oneditsave?(this: EditorNode<Options>): void;
}

/**
 * The functions that the forms share: the build bundles them into `resources/connected-vehicle.js`.
 */
declare const connectedVehicle: typeof import('./index');

/** The properties of a vehicle configuration that forms read. A number can be a text. */
interface ConfigOptions {
  d?: boolean;
  valid?: boolean;
  validationErrors?: string[];
  service?: string;
  demoCar?: string;
  wallbox?: string;
  readOnly?: boolean;
  places?: unknown;
  polling?: string;
  units?: string;
  shareFor?: number | string;
  requestsPerDay?: number | string;
  access?: import('../../src/index').AccessName[];
  interfaces?: import('../../src/index').InterfaceName[];
}

/** A node of the flows, as far as this pack's are read by each other. */
interface FlowNode {
  id: string;
  type: string;
  z?: string;
  x?: number;
  y?: number;
  /** To be drawn again. */
  dirty?: boolean;
  name?: string;
  vehicle?: string | undefined;
  read?: string;
  readType?: string;
  reads?: string[];
  events?: string[];
  command?: string;
  commandType?: string;
  verify?: boolean;
  vin?: string | undefined;
  vinType?: string;
  /** Not deployed as it is. */
  changed?: boolean;
  /** The values that an instance of a subflow has for its properties. */
  env?: { name: string; type: string; value: string }[];
  poll?: number | string;
  interface?: string;
  conditions?: { value?: string }[];
  watch?: import('../../src/index').WatchName[];
  onlyWhileNotInUse?: boolean;
}

interface JQuery<TElement = HTMLElement> {
  /** Fills in the texts that `data-i18n` names. */
  i18n(): this;
  typedInput(options: { types: readonly unknown[]; typeField?: string }): this;
  editableList<Item>(options: {
    addButton: string;
    height: 'auto';
    removable: boolean;
    sortable: boolean;
    addItem(item: JQuery, index: number, data: Item): void;
    removeItem(): void;
  }): this;
  editableList(name: 'addItem', item: unknown): this;
  editableList(name: 'addItems', items: readonly unknown[]): this;
  editableList(name: 'items'): JQuery;
  /** Undefined once the list is removed. */
  editableList(name: 'instance'): object | undefined;
  autoComplete(options: { search(typed: string): { value: string; label: string }[] }): this;
  typedInput(name: 'types', types: readonly unknown[]): this;
  typedInput(name: 'value' | 'type'): string;
  typedInput(name: 'value' | 'type', value: string): this;
}

interface HistoryEvent {
  t: string;
  dirty: boolean;
  events?: { t: string; subflow?: { instances: { id: string; changed?: boolean }[] } }[];
}

/** Node-RED looks its texts up with it. */
declare const i18next: {
  /** That of the editor, and those that stand in for it. */
  languages: readonly string[];
  addResourceBundle(language: string, namespace: string, texts: object, isDeep: boolean): void;
};

declare const RED: {
  i18n: { lang(): string };
  actions: { add(name: string, work: () => void): void };
  comms: {
    subscribe(topic: string, callback: (topic: string, data: unknown) => void): void;
    on(event: 'connect', callback: () => void): void;
  };
  events: {
    on(event: string, callback: (node: { type: string }) => void): void;
    off(event: string, callback: (node: { type: string }) => void): void;
  };
  utils: { getNodeLabel(node: object, otherwise: string): string };
  /** The changes that can be undone, and those that can be redone. */
  history: {
    depth(): number;
    push(event: HistoryEvent): void;
    pop(): void;
    listRedo(): HistoryEvent[];
  };
  plugins: { registerPlugin(id: string, definition: { type: string; onadd(): void }): void };
  sidebar: {
    addTab(tab: {
      id: string;
      label: string;
      name: string;
      iconClass: string;
      content: HTMLElement;
      enableOnEdit: boolean;
      onchange(): void;
    }): void;
    show(id: string): void;
  };
  workspaces: { active(): string; isLocked(): boolean };
  editor: { editConfig(name: string, type: string, id: string): void; validateNode(node: object): void };
  view: {
    scale(): number;
    redraw(): void;
    importNodes(nodes: readonly object[], options: { touchImport: boolean; notify: boolean }): void;
  };
  tray: { resize(): void };
  clipboard: {
    /** @param message key of what the editor shows beside the element */
    copyText(text: string, element?: JQuery, message?: string): void;
  };
  _(key: string, values?: Record<string, unknown>): string;
  nodes: {
    getType(type: string): { defaults: Record<string, { value: unknown }> };
    /** Whether something is not deployed; sets it if called with a value. */
    dirty(isDirty?: boolean): boolean;
    /** The nodes as they are deployed. */
    originalFlow(): readonly { id: string }[] | undefined;
    id(): string;
    /** A node of the flows being edited, by its id. */
    node(id: string): (Omit<FlowNode, 'id'> & ConfigOptions) | null | undefined;
    eachConfig(callback: (config: CarConfig) => void): void;
    eachNode(callback: (node: FlowNode) => void): void;
    registerType<Options, Credentials = object>(type: string, definition: EditorDefinition<Options, Credentials>): void;
  };
};

/** The build inserts its text, minified. */
declare module '*.css' {
  const text: string;
  export default text;
}
