import type { FlowNode } from './checkout';

/** A box on the canvas, in pixels. */
export interface Box {
  id: string;
  label: string;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface Point {
  x: number;
  y: number;
}

const height = 30;
/** The button of an inject node is on its left, that of a debug node on its right. */
const button = 25;
const smallest = 100;
/** The dot, and the letters behind it. */
const statusDot = 20;
const statusLetter = 5;

/**
 * The widths of Arial in thousandths of its size, by the letters that have them; all others
 * have that of a digit.
 */
const widthsOfLetters = Object.entries({
  'ijl’': 222,
  "'": 191,
  ' !,./:;I[]\\ft': 278,
  '()-r“”': 333,
  '"': 355,
  '*': 389,
  '°': 400,
  Jcksvxyz: 500,
  '+<=>': 584,
  FTZ: 611,
  '&ABEKPSVXY': 667,
  CDHNRUw: 722,
  GOQ: 778,
  Mm: 833,
  '%': 889,
  W: 944,
  '…': 1000,
  '@': 1015,
}).flatMap(([those, width]) => [...those].map((letter): [string, number] => [letter, width]));
const widths = new Map(widthsOfLetters);
const textWidth = (text: string): number =>
  [...text].reduce((sum, letter) => sum + (widths.get(letter) ?? 556), 0) * 0.014;

/** Nodes without an input, among those of the examples. */
const withoutInput = /^(inject|comment|catch|status|link in|mqtt in)$/;

/** The width that the editor gives a node: that of its label, in steps of 20. */
function widthOf(node: FlowNode): number {
  if (node.type.startsWith('link ')) return height;
  const repeated = node.type === 'inject' && (node['once'] || node['repeat'] || node['crontab']) ? ' ↻' : '';
  const text = textWidth(labelOf(node) + repeated) + 50 + (withoutInput.test(node.type) ? 0 : 7);
  // Pairs of letters that stand closer make it a pixel less.
  return Math.max(smallest, 20 * Math.ceil((text - 1.5) / 20));
}

const labelOf = (node: FlowNode): string => {
  const text = node['name'];
  return typeof text === 'string' && text !== '' ? text : node.type;
};

/** The area of a node, with its button. */
export function boxOf(node: FlowNode): Box {
  const label = labelOf(node);
  const width = widthOf(node);
  const x = Number(node['x']);
  const y = Number(node['y']);
  return {
    id: node.id,
    label,
    left: x - width / 2 - (node.type === 'inject' ? button : 0),
    right: x + width / 2 + (node.type === 'debug' ? button : 0),
    top: y - height / 2,
    bottom: y + height / 2,
  };
}

/**
 * Where the editor draws the status of a node, which is below it; null for a node without one. A
 * status has up to 32 characters, that of MQTT one word.
 */
export function statusOf(node: FlowNode): Box | null {
  const letters =
    node.type.startsWith('connected-vehicle-') || node['tostatus'] === true
      ? 32
      : node.type.startsWith('mqtt ')
        ? 16
        : 0;
  if (letters === 0) return null;
  const { id, label, left, bottom } = boxOf(node);
  return {
    id,
    label: `status of ${label}`,
    left,
    right: left + statusDot + letters * statusLetter,
    top: bottom,
    bottom: bottom + 16,
  };
}

/** A group as a flow file holds it. */
export interface Group extends FlowNode {
  name: string;
  nodes: string[];
  x: number;
  y: number;
  w: number;
  h: number;
}

export const isGroup = (node: FlowNode): node is Group => node.type === 'group';

export interface Wire {
  from: FlowNode;
  to: FlowNode;
  points: Point[];
}

/** Points on the curve that the editor draws from one port to another. */
function wireOf(from: FlowNode, to: FlowNode, output: number): Wire {
  const outputs = from.wires?.length ?? 1;
  const start = { x: boxOf(from).right - (from.type === 'debug' ? button : 0), y: Number(from['y']) };
  start.y += (output - (outputs - 1) / 2) * 13;
  const end = { x: boxOf(to).left, y: Number(to['y']) };
  const distance = Math.hypot(end.x - start.x, end.y - start.y);
  const bend = 0.75 * Math.min(distance, smallest);
  const points = Array.from({ length: 41 }, (_, step) => {
    const t = step / 40;
    const u = 1 - t;
    const along = (a: number, b: number, c: number, d: number): number =>
      u ** 3 * a + 3 * u * u * t * b + 3 * u * t * t * c + t ** 3 * d;
    return {
      x: along(start.x, start.x + bend, end.x - bend, end.x),
      y: along(start.y, start.y, end.y, end.y),
    };
  });
  return { from, to, points };
}

export const wiresOf = (nodes: FlowNode[]): Wire[] =>
  nodes.flatMap((from) =>
    (from.wires ?? []).flatMap((targets, output) =>
      targets.flatMap((id) => nodes.filter((to) => to.id === id).map((to) => wireOf(from, to, output))),
    ),
  );

export const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

const isInside = ({ x, y }: Point, box: Box): boolean => x > box.left && x < box.right && y > box.top && y < box.bottom;

export const runsUnder = ({ from, to, points }: Wire, box: Box): boolean =>
  box.id !== from.id && box.id !== to.id && points.some((point) => isInside(point, box));

const side = (a: Point, b: Point, c: Point): number => Math.sign((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));

/** Whether two wires cross. Two of the same node, or to the same node, share an end instead. */
export function cross(one: Wire, other: Wire): boolean {
  if (one.from === other.from || one.to === other.to) return false;
  return one.points.some((a, index) => {
    const b = one.points[index + 1];
    if (b === undefined) return false;
    return other.points.some((c, place) => {
      const d = other.points[place + 1];
      return d !== undefined && side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
    });
  });
}
