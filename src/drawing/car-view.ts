import { openingNames, type CarPart, type CarViewState, type OpeningName, type OpeningState } from './car-view-state';

export { openingNames };

/**
 * A car from above, as one SVG: what is open, locked, plugged in and charging. It depends on
 * nothing but the DOM, so that every page can show it: put `carSvg()` into a page, then call
 * `drawCar` with each new state.
 *
 * Colors are custom properties with a light and a dark default; a page that has a theme sets them
 * (`--car-paint`, `--car-open`, …). Color never stands alone: what is not closed is drawn open and
 * has its state written beside it.
 */

export interface CarViewWords {
  /** The name of a part: "Front-left window". */
  parts: Record<CarPart, string>;
  states: Record<Exclude<OpeningState, 'absent'> | 'locked' | 'unlocked' | 'plugged' | 'unplugged', string>;
}

/** Length along the car, from its nose at 66 to its tail at 574; the middle of its width is 0. */
const body =
  'M0 64 C44 64 72 74 80 104 C88 138 88 182 87 222 L87 428 C88 470 86 512 78 542 C70 568 42 576 0 576 ' +
  'C-42 576 -70 568 -78 542 C-86 512 -88 470 -87 428 L-87 222 C-88 182 -88 138 -80 104 C-72 74 -44 64 0 64 Z';
const hood = 'M-66 -98 C-40 -114 40 -114 66 -98 L74 0 C42 -18 -42 -18 -74 0 Z';
const engineBay = 'M-66 100 C-40 84 40 84 66 100 L74 198 C42 180 -42 180 -74 198 Z';
const tailgate = 'M-72 0 C-42 12 42 12 72 0 L72 54 C56 76 -56 76 -72 54 Z';
const trunk = 'M-72 486 C-42 498 42 498 72 486 L72 540 C56 562 -56 562 -72 540 Z';
const windshield = 'M-72 206 C-42 188 42 188 72 206 L54 262 C32 253 -32 253 -54 262 Z';
const rearWindow = 'M-54 428 C-32 436 32 436 54 428 L70 478 C42 490 -42 490 -70 478 Z';
const roof = 'M-54 266 C-32 257 32 257 54 266 L54 424 C32 432 -32 432 -54 424 Z';

/** Paths of the left side; the right side mirrors it. */
const windowPaths = {
  front: 'M-77 214 L-58 268 L-58 336 L-77 336 C-78 296 -79 254 -77 214 Z',
  rear: 'M-77 342 L-58 342 L-58 422 L-74 472 C-77 432 -78 386 -77 342 Z',
};
const leaf = (length: number): string =>
  `M0 2 C-5 2 -6 8 -6 14 L-6 ${length - 6} Q-6 ${length} 0 ${length} L6 ${length} L6 2 Z`;

/**
 * The area to click reaches beyond a narrow part, for a finger. Its frame in two tones shows the
 * focus.
 */
const hit = (x: number, y: number, width: number, height: number): string =>
  ['hit', 'ring']
    .map((kind) => `<rect class="cv-${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`)
    .join('');

const side = (mirrored: boolean): string => {
  const name = mirrored ? 'Right' : 'Left';
  const part = (opening: string, kind: string, inner: string): string =>
    `<g class="cv-part cv-${kind}" data-part="${opening}">${inner}</g>`;
  return `<g${mirrored ? ' transform="scale(-1 1)"' : ''}>
    <path class="cv-mirror" d="M-84 226 C-98 222 -106 226 -106 236 C-106 244 -96 244 -84 240 Z"/>
    ${part(`front${name}Door`, 'door', `<g transform="translate(-83 214)"><path class="cv-gap" d="M-5 4 L4 4 L4 118 L-5 118 Z"/><g class="cv-leaf"><path class="cv-shape" d="${leaf(122)}"/></g>${hit(-47, 0, 52, 122)}</g>`)}
    ${part(`rear${name}Door`, 'door', `<g transform="translate(-83 340)"><path class="cv-gap" d="M-5 4 L4 4 L4 102 L-5 102 Z"/><g class="cv-leaf"><path class="cv-shape" d="${leaf(106)}"/></g>${hit(-47, 0, 52, 106)}</g>`)}
    ${part(`front${name}Window`, 'window', `<path class="cv-shape" d="${windowPaths.front}"/>${hit(-78, 214, 52, 122)}`)}
    ${part(`rear${name}Window`, 'window', `<path class="cv-shape" d="${windowPaths.rear}"/>${hit(-78, 342, 52, 130)}`)}
    <path class="cv-headlight" d="M-76 112 C-72 92 -60 82 -46 78 C-52 90 -62 102 -76 112 Z"/>
    <path class="cv-glow" d="M-76 100 L-150 8 L-60 8 L-48 76 Z"/>
    <path class="cv-taillight" d="M-80 520 C-80 540 -74 554 -58 562 L-54 556 C-68 548 -74 536 -75 520 Z"/>
    <circle class="cv-blinker" cx="-72" cy="106" r="9"/><circle class="cv-blinker" cx="-72" cy="544" r="9"/>
  </g>`;
};

/** The state of a part is written at a point beside the car, with a line to the part. */
const callouts: Record<OpeningName, { x: number; y: number; to: [number, number] }> = {
  frontLeftWindow: { x: -132, y: 236, to: [-72, 268] },
  frontRightWindow: { x: 132, y: 236, to: [72, 268] },
  rearLeftWindow: { x: -132, y: 364, to: [-72, 376] },
  rearRightWindow: { x: 132, y: 364, to: [72, 376] },
  frontLeftDoor: { x: -132, y: 330, to: [-94, 322] },
  frontRightDoor: { x: 132, y: 330, to: [94, 322] },
  rearLeftDoor: { x: -132, y: 452, to: [-94, 440] },
  rearRightDoor: { x: 132, y: 452, to: [94, 440] },
  sunroof: { x: 0, y: 290, to: [0, 290] },
  hood: { x: 0, y: 136, to: [0, 136] },
  tailGate: { x: 0, y: 596, to: [0, 560] },
  tankLid: { x: 132, y: 504, to: [88, 504] },
};

const callout = (name: OpeningName): string => {
  const { x, y, to } = callouts[name];
  return `<g class="cv-callout" data-for="${name}" visibility="hidden"><line class="cv-leader" x1="${x}" y1="${y}" x2="${to[0]}" y2="${to[1]}"/>
    <rect class="cv-chip" x="${x - 30}" y="${y - 13}" width="60" height="26" rx="13"/><text class="cv-word" x="${x}" y="${y + 5}"></text></g>`;
};

const style = `
.car-view{--cv-paint:var(--car-paint,#cfd9e3);--cv-edge:var(--car-edge,#8496a9);--cv-line:var(--car-line,#5c6f82);--cv-glass:var(--car-glass,#3d5266);
--cv-inside:var(--car-inside,#22303d);--cv-wheel:var(--car-wheel,#20262c);--cv-open:var(--car-open,#d9480f);--cv-ajar:var(--car-ajar,#f2a100);--cv-unknown:var(--car-unknown,#6b7785);--cv-good:var(--car-good,#1f7a3d);
--cv-label:var(--car-label,#fff);--cv-energy:var(--car-energy,#1c7ed6);--cv-focus:var(--car-focus,var(--cv-energy));--cv-card:var(--car-card,#fff);--cv-text:var(--car-text,#1c2733);
font-family:inherit;overflow:visible;display:block;width:100%;height:auto}
@media (prefers-color-scheme:dark){.car-view{--cv-paint:var(--car-paint,#5d6c7b);--cv-edge:var(--car-edge,#2c3742);--cv-line:var(--car-line,#9fb0c0);--cv-glass:var(--car-glass,#16202a);
--cv-inside:var(--car-inside,#0d141a);--cv-wheel:var(--car-wheel,#3d4a56);--cv-open:var(--car-open,#ff8a4c);--cv-ajar:var(--car-ajar,#ffc34d);--cv-unknown:var(--car-unknown,#a7b3bf);--cv-good:var(--car-good,#5fd38a);
--cv-label:var(--car-label,#10161c);--cv-energy:var(--car-energy,#5cb3ff);--cv-card:var(--car-card,#1d262f);--cv-text:var(--car-text,#e8eef4)}}
.car-view .cv-shadow{fill:#000;opacity:.4}
.car-view .cv-wheel{fill:var(--cv-wheel)}
.car-view .cv-body,.car-view .cv-mirror{fill:var(--cv-paint);stroke:var(--cv-edge);stroke-width:2}
.car-view .cv-shade{fill:var(--cv-shade);pointer-events:none}
.car-view .cv-glass,.car-view .cv-window .cv-shape{fill:var(--cv-glass)}
.car-view .cv-shine{fill:#fff;opacity:.13;pointer-events:none}
.car-view .cv-crease{fill:none;stroke:var(--cv-edge);stroke-width:1.2;opacity:.55;pointer-events:none}
.car-view .cv-wiper{fill:none;stroke:var(--cv-inside);stroke-width:3;stroke-linecap:round}
.car-view [data-part=hood]:not([data-state=closed],[data-state=unknown])~.cv-crease{visibility:hidden}
.car-view .cv-bay{fill:var(--cv-inside)}
.car-view .cv-roof{fill:var(--cv-paint);stroke:var(--cv-edge);stroke-width:1}
.car-view .cv-panel .cv-shape,.car-view .cv-leaf .cv-shape{fill:var(--cv-paint);stroke:var(--cv-edge);stroke-width:1.5}
.car-view .cv-gap{fill:var(--cv-inside)}
.car-view .cv-hit,.car-view .cv-ring{fill:transparent;pointer-events:none}
.car-view [role=button] .cv-hit{pointer-events:all}
.car-view [role=button]:focus-visible .cv-hit{stroke:var(--cv-card);stroke-width:9}
.car-view [role=button]:focus-visible .cv-ring{stroke:var(--cv-focus);stroke-width:4}
.car-view .cv-upright,.car-view .cv-chip,.car-view .cv-word{transform:rotate(var(--car-turn,0deg));transform-box:fill-box;transform-origin:center}
.car-view .cv-gauges{translate:0 var(--car-shift,0)}
.car-view :is(.cv-chip,.cv-word){scale:var(--car-words,1)}
.car-view .cv-leaf,.car-view .cv-panel .cv-flap,.car-view .cv-slide{transition:transform .35s ease}
.car-view .cv-door[data-state=open] .cv-leaf{transform:rotate(36deg)}
.car-view .cv-door[data-state=ajar] .cv-leaf{transform:rotate(11deg)}
.car-view [data-part=hood][data-state=open] .cv-flap{transform:scaleY(.36)}
.car-view [data-part=hood][data-state=ajar] .cv-flap{transform:scaleY(.9)}
.car-view [data-part=tailGate][data-state=open] .cv-flap{transform:scaleY(.34)}
.car-view [data-part=tailGate][data-state=ajar] .cv-flap{transform:scaleY(.86)}
.car-view [data-part=tankLid][data-state=open] .cv-leaf{transform:rotate(-62deg)}
.car-view [data-part=tankLid][data-state=ajar] .cv-leaf{transform:rotate(-24deg)}
.car-view [data-part=sunroof][data-state=open] .cv-slide{transform:translateY(16px)}
.car-view [data-part=sunroof][data-state=ajar] .cv-slide{transform:translateY(8px)}
.car-view [data-state=open]:not(.cv-window,[data-part=sunroof]) .cv-shape{fill:var(--cv-open);stroke:var(--cv-open)}
.car-view [data-state=ajar]:not(.cv-window,[data-part=sunroof]) .cv-shape{fill:var(--cv-ajar);stroke:var(--cv-ajar)}
.car-view .cv-window[data-state=open] .cv-shape{fill:var(--cv-open)}
.car-view .cv-window[data-state=ajar] .cv-shape{fill:var(--cv-ajar)}
.car-view [data-part=sunroof] .cv-hole{fill:var(--cv-inside)}
.car-view [data-part=sunroof][data-state=open] .cv-hole{fill:var(--cv-open)}
.car-view [data-part=sunroof][data-state=ajar] .cv-hole{fill:var(--cv-ajar)}
.car-view [data-state=unknown]>.cv-shape,.car-view [data-state=unknown] .cv-leaf .cv-shape,.car-view [data-state=unknown] .cv-flap .cv-shape,.car-view [data-state=unknown] .cv-slide .cv-shape{fill:var(--cv-hatch);stroke:var(--cv-unknown);stroke-width:2;stroke-dasharray:5 4}
.car-view [data-unread][data-state=unknown] .cv-shape{fill:var(--cv-card);stroke-width:1.5}
.car-view .cv-slide .cv-shape{fill:var(--cv-glass)}
.car-view [data-state=absent]{display:none}
.car-view .cv-leader{stroke:var(--cv-tone);stroke-width:2}
.car-view .cv-chip{fill:var(--cv-tone);stroke:var(--cv-card);stroke-width:2}
.car-view .cv-word{fill:var(--cv-label);font-size:15px;font-weight:600;text-anchor:middle}
.car-view .cv-callout{pointer-events:none}
.car-view .cv-callout[data-state=open]{--cv-tone:var(--cv-open)}
.car-view .cv-callout[data-state=ajar]{--cv-tone:var(--cv-ajar);--cv-label:#2b1d00}
.car-view .cv-callout[data-state=unknown]{--cv-tone:var(--cv-unknown)}
.car-view .cv-lock{--cv-tone:var(--cv-unknown)}
.car-view .cv-lock[data-state=locked]{--cv-tone:var(--cv-good)}
.car-view .cv-lock[data-state=unlocked]{--cv-tone:var(--cv-open)}
.car-view .cv-lock .cv-plate{fill:var(--cv-card);stroke:var(--cv-tone);stroke-width:3}
.car-view .cv-lock[data-state=unknown] .cv-plate{stroke-dasharray:5 4}
.car-view .cv-lock .cv-box{fill:var(--cv-tone)}
.car-view .cv-lock .cv-shackle{fill:none;stroke:var(--cv-tone);stroke-width:5;stroke-linecap:round;transition:transform .25s}
.car-view .cv-lock[data-state=unlocked] .cv-shackle{transform:translate(9px,-5px)}
.car-view .cv-lock .cv-question{fill:var(--cv-label);font-size:17px;font-weight:700;text-anchor:middle;visibility:hidden}
.car-view .cv-lock[data-state=unknown] .cv-question{visibility:visible}
.car-view .cv-gauge .cv-back{fill:var(--cv-card);stroke:var(--cv-line);stroke-width:1.5}
.car-view .cv-gauge .cv-fill{fill:var(--cv-energy);opacity:.32}
.car-view .cv-gauge text{fill:var(--cv-text);font-size:17px;font-weight:600;text-anchor:middle}
.car-view .cv-gauge .cv-icon{fill:var(--cv-energy)}
.car-view .cv-cable{fill:none;stroke:var(--cv-line);stroke-width:5;stroke-linecap:round}
.car-view .cv-current{fill:none;stroke:var(--cv-energy);stroke-width:5;stroke-linecap:round;stroke-dasharray:4 16;visibility:hidden}
.car-view .cv-plug .cv-port{fill:var(--cv-card);stroke:var(--cv-line);stroke-width:2}
.car-view .cv-plug .cv-connected{visibility:hidden}
.car-view .cv-plug[data-state=plugged] .cv-connected{visibility:visible}
.car-view .cv-plug[data-state=plugged] .cv-port{fill:var(--cv-energy);stroke:var(--cv-energy)}
.car-view .cv-plug[data-state=unknown] .cv-port{stroke:var(--cv-unknown);stroke-dasharray:4 3;fill:var(--cv-hatch)}
.car-view .cv-plug[data-charging=true] .cv-current{visibility:visible}
.car-view .cv-plug[data-charging=false] .cv-current{visibility:hidden}
.car-view .cv-headlight{fill:#f4f8fb;stroke:var(--cv-edge);stroke-width:1}
.car-view .cv-taillight{fill:var(--cv-edge)}
.car-view .cv-glow{fill:var(--cv-beam);opacity:0;pointer-events:none;transition:opacity .3s}
.car-view .cv-blinker{fill:#ffb300;opacity:0;pointer-events:none}
.car-view .cv-exhaust,.car-view .cv-air,.car-view .cv-horn{visibility:hidden;pointer-events:none}
.car-view .cv-exhaust circle{fill:var(--cv-line);opacity:.5}
.car-view .cv-air path{fill:none;stroke:#7fd6ff;stroke-width:3;stroke-linecap:round}
.car-view .cv-horn path{fill:none;stroke:var(--cv-open);stroke-width:5;stroke-linecap:round}
.car-view[data-engine=true] .cv-glow{opacity:1}
.car-view[data-engine=true][data-tank=true] .cv-exhaust{visibility:visible}
.car-view[data-climate=true] .cv-air{visibility:visible}
.car-view[data-flash=true] .cv-blinker{opacity:1}
.car-view[data-honk=true] .cv-horn{visibility:visible}
.car-view [role=button]{cursor:pointer;outline:none}
.car-view .cv-part[role=button]:hover .cv-shape,.car-view .cv-lock[role=button]:hover .cv-plate,.car-view .cv-plug[role=button]:hover .cv-port{stroke:var(--cv-focus);stroke-width:3}
@media (prefers-reduced-motion:no-preference){
.car-view .cv-current{animation:cv-flow 1s linear infinite}
.car-view .cv-exhaust circle{animation:cv-puff 1.6s ease-out infinite}
.car-view .cv-exhaust circle:nth-child(2){animation-delay:.5s}
.car-view .cv-exhaust circle:nth-child(3){animation-delay:1s}
.car-view .cv-air path{animation:cv-air 1.4s ease-in-out infinite alternate}
.car-view[data-flash=true] .cv-blinker{animation:cv-blink .5s steps(2,jump-none) infinite}
.car-view[data-honk=true] .cv-horn path{animation:cv-blink .4s steps(2,jump-none) infinite alternate-reverse}
}
@media (prefers-reduced-motion:reduce){.car-view *{transition:none!important}}
@keyframes cv-flow{to{stroke-dashoffset:-20}}
@keyframes cv-puff{from{transform:translateY(0);opacity:.55}to{transform:translateY(26px);opacity:0}}
@keyframes cv-air{to{transform:translateY(5px)}}
@keyframes cv-blink{from{opacity:1}to{opacity:.1}}`;

/**
 * The markup of the drawing. Everything in it is unknown until `drawCar` is called.
 * @param interactive whether the openings, the lock and the charge port are buttons; the page
 * listens for clicks, see `partOf`
 */
export function carSvg({ interactive = false } = {}): string {
  const gauge = (name: string, icon: string): string =>
    `<g class="cv-gauge" data-gauge="${name}" visibility="hidden"><rect class="cv-back" x="-46" y="-15" width="92" height="30" rx="15"/>
    <rect class="cv-fill" x="-44" y="-13" width="0" height="26" rx="13"/>${icon}<text x="6" y="6"></text></g>`;
  const paints = ['shade', 'beam', 'hatch'].map((name) => `--cv-${name}:url(#cv1-${name})`).join(';');
  const svg = `<svg class="car-view" viewBox="-180 16 360 606" xmlns="http://www.w3.org/2000/svg" style="${paints}" role="${interactive ? 'group' : 'img'}"><style>${style}</style>
  <defs>
    <filter id="cv1-blur" x="-20%" y="-5%" width="140%" height="112%"><feGaussianBlur stdDeviation="9"/></filter>
    <linearGradient id="cv1-shade" x1="0" x2="1"><stop offset="0" stop-color="#000" stop-opacity=".22"/><stop offset=".16" stop-color="#fff" stop-opacity=".2"/><stop offset=".5" stop-color="#fff" stop-opacity=".06"/><stop offset=".84" stop-color="#fff" stop-opacity=".2"/><stop offset="1" stop-color="#000" stop-opacity=".22"/></linearGradient>
    <linearGradient id="cv1-beam" x1="0" y1="1" x2="0" y2="0"><stop offset="0" stop-color="#ffe9a8" stop-opacity=".75"/><stop offset="1" stop-color="#ffe9a8" stop-opacity="0"/></linearGradient>
    <pattern id="cv1-hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="8" height="8" fill="var(--cv-card)"/><rect width="4" height="8" fill="var(--cv-unknown)"/></pattern>
  </defs>
  <path class="cv-shadow" filter="url(#cv1-blur)" transform="translate(0 10)" d="${body}"/>
  <g class="cv-horn"><path d="M-20 54 Q0 46 20 54"/><path d="M-32 42 Q0 28 32 42"/><path d="M-44 30 Q0 10 44 30"/></g>
  <g class="cv-exhaust"><circle cx="46" cy="586" r="7"/><circle cx="52" cy="590" r="9"/><circle cx="44" cy="594" r="8"/></g>
  <rect class="cv-wheel" x="-95" y="136" width="18" height="66" rx="7"/><rect class="cv-wheel" x="77" y="136" width="18" height="66" rx="7"/>
  <rect class="cv-wheel" x="-95" y="462" width="18" height="66" rx="7"/><rect class="cv-wheel" x="77" y="462" width="18" height="66" rx="7"/>
  <g class="cv-plug" data-part="plug" data-state="absent"><g class="cv-connected"><path class="cv-cable" d="M-88 506 C-120 506 -124 540 -150 548 C-164 553 -170 572 -170 600"/><path class="cv-current" d="M-170 600 C-170 572 -164 553 -150 548 C-124 540 -120 506 -88 506"/></g></g>
  <path class="cv-body" d="${body}"/><path class="cv-shade" d="${body}"/>
  <path class="cv-bay" d="${engineBay}"/><path class="cv-bay" d="${trunk}"/>
  <g class="cv-part cv-panel" data-part="hood"><g transform="translate(0 198)"><g class="cv-flap"><path class="cv-shape" d="${hood}"/></g></g>${hit(-74, 84, 148, 114)}</g>
  <path class="cv-crease" d="M-44 108 C-40 140 -44 170 -50 182 M44 108 C40 140 44 170 50 182"/><path class="cv-glass" d="${windshield}"/><path class="cv-wiper" d="M-46 204 L-6 196 M4 196 L44 204"/><path class="cv-shine" d="M-60 210 C-40 199 -14 197 0 197 L-24 254 C-34 255 -44 257 -50 259 Z"/>
  <g class="cv-air"><path d="M-24 236 q6 -8 12 0 t12 0"/><path d="M0 222 q6 -8 12 0 t12 0"/><path d="M0 244 q6 -8 12 0 t12 0"/></g>
  <path class="cv-roof" d="${roof}"/><path class="cv-glass" d="${rearWindow}"/>
  <g class="cv-part cv-panel" data-part="tailGate"><g transform="translate(0 486)"><g class="cv-flap"><path class="cv-shape" d="${tailgate}"/></g></g>${hit(-58, 486, 116, 76)}</g>
  ${side(false)}${side(true)}
  <g class="cv-part cv-roof-light" data-part="sunroof"><rect class="cv-hole" x="-40" y="272" width="80" height="36" rx="8"/><g class="cv-slide"><rect class="cv-shape" x="-40" y="272" width="80" height="36" rx="8"/></g>${hit(-40, 262, 80, 52)}</g>
  <g class="cv-part" data-part="tankLid"><g transform="translate(82 494)"><rect class="cv-gap" x="-6" y="0" width="12" height="20" rx="3"/><g class="cv-leaf"><rect class="cv-shape" x="-5" y="0" width="11" height="20" rx="3"/></g>${hit(-24, -16, 52, 52)}</g></g>
  <g class="cv-plug" data-part="plug" data-state="absent" data-button><circle class="cv-port" cx="-84" cy="506" r="9"/>${hit(-118, 480, 52, 52)}</g>
  <g class="cv-lock" data-part="lock" data-state="unknown" data-button><g class="cv-upright"><circle class="cv-plate" cx="0" cy="342" r="27"/><path class="cv-shackle" d="M-8 340 L-8 333 A8 8 0 0 1 8 333 L8 340"/><rect class="cv-box" x="-13" y="339" width="26" height="19" rx="4"/><text class="cv-question" x="0" y="355">?</text></g>${hit(-27, 315, 54, 54)}</g>
  <g class="cv-upright cv-gauges"><g transform="translate(0 391)">${gauge('level', '<path class="cv-icon" d="M-33 -9 L-40 2 L-34 2 L-37 10 L-28 -2 L-34 -2 Z"/>')}</g>
  <g transform="translate(0 391)">${gauge('fuel', '<path class="cv-icon" d="M-34 -10 C-28 -2 -27 1 -27 4 A7 7 0 0 1 -41 4 C-41 1 -40 -2 -34 -10 Z"/>')}</g></g>
  ${openingNames.map(callout).join('')}</svg>`;
  return interactive
    ? svg.replace(/<g class="(cv-part[^"]*)"|data-button/g, (found) => `${found} role="button" tabindex="0"`)
    : svg;
}

export function drawCar(svg: SVGSVGElement, state: CarViewState, words: CarViewWords): void {
  for (const name of openingNames) {
    const part = find(svg, `[data-part=${name}]`);
    part.dataset['state'] = state[name];
    part.toggleAttribute('data-unread', state.notRead?.has(name) === true);
    label(part, words.parts[name], state[name] === 'absent' ? null : words.states[state[name]], pressedOf(state[name]));
    const note = find(svg, `[data-for=${name}]`);
    note.dataset['state'] = state[name];
    const isShown = state[name] !== 'closed' && state[name] !== 'absent' && !state.notRead?.has(name);
    note.setAttribute('visibility', isShown ? 'visible' : 'hidden');
    if (isShown && state[name] !== 'absent') write(note, words.states[state[name]]);
  }
  const lock = state.locked === null ? 'unknown' : state.locked ? 'locked' : 'unlocked';
  const lockPart = find(svg, '.cv-lock');
  lockPart.dataset['state'] = lock;
  label(lockPart, words.parts.lock, words.states[lock], state.locked === null ? 'mixed' : String(state.locked));
  drawEnergy(svg, state, words);
  svg.dataset['engine'] = String(state.engineRunning);
  svg.dataset['tank'] = String(state.fuel !== undefined);
  svg.dataset['climate'] = String(state.climateRunning ?? false);
  if (svg.getAttribute('role') === 'img') svg.setAttribute('aria-label', summaryOf(state, words));
}

function drawEnergy(svg: SVGSVGElement, state: CarViewState, words: CarViewWords): void {
  const { plugged, chargingStatus, level, fuel, fuelUnit } = state;
  const plug = plugged === undefined ? 'absent' : plugged === null ? 'unknown' : plugged ? 'plugged' : 'unplugged';
  for (const part of svg.querySelectorAll<SVGElement>('.cv-plug')) {
    part.dataset['state'] = plug;
    part.dataset['charging'] = String(chargingStatus === 'CHARGING');
    const word = plug === 'absent' ? null : words.states[plug];
    if (part.hasAttribute('data-button'))
      label(part, words.parts.plug, word, plugged === null ? 'mixed' : String(plugged));
  }
  // Two gauges stand one above the other.
  const both = level !== undefined && fuel !== undefined;
  gauge(svg, 'level', level, level === null ? '?' : `${level} %`, both ? -4 : 0, (level ?? 0) / 100);
  const fuelText = fuel === null ? '?' : `${Math.round(fuel ?? 0)} ${fuelUnit === 'US gallons' ? 'gal' : 'l'}`;
  gauge(svg, 'fuel', fuel, fuelText, both ? 26 : 0, 0);
}

function gauge(svg: SVGSVGElement, name: string, value: unknown, text: string, y: number, share: number): void {
  const part = find(svg, `[data-gauge=${name}]`);
  part.setAttribute('visibility', value === undefined ? 'hidden' : 'visible');
  part.setAttribute('transform', `translate(0 ${y})${y === 0 ? '' : ' scale(.86)'}`);
  find(part, '.cv-fill').setAttribute('width', String(Math.round(88 * share)));
  find(part, 'text').textContent = text;
}

/** Makes the car flash, honk, or both, for two seconds. */
export function signalCar(svg: SVGSVGElement, ...signals: ('flash' | 'honk')[]): void {
  for (const signal of signals) {
    svg.dataset[signal] = 'true';
    setTimeout(() => delete svg.dataset[signal], 2000);
  }
}

/** The part that an event is about, or null. The drawing has a part in each `data-part`. */
export const partOf = (target: EventTarget | null): CarPart | null =>
  target instanceof Element
    ? ((target.closest<SVGElement>('.car-view [role=button]')?.dataset['part'] ?? null) as CarPart | null)
    : null;

const pressedOf = (state: OpeningState): string => (state === 'unknown' ? 'mixed' : String(state !== 'closed'));

/** A button's name is that of its part; its state is pressed, and named in a word. */
function label(part: SVGElement, name: string, state: string | null, pressed: string): void {
  if (part.getAttribute('role') !== 'button') return;
  part.setAttribute('aria-label', state === null ? name : `${name}: ${state}`);
  part.setAttribute('aria-pressed', pressed);
}

function write(note: SVGElement, word: string): void {
  const text = find(note, 'text');
  text.textContent = word;
  const width = Math.max(40, word.length * 9.6 + 24);
  const chip = find(note, 'rect');
  const { x } = callouts[note.dataset['for'] as OpeningName]; // Written above.
  // Beside the car, a longer word grows away from it.
  const middle = x === 0 ? 0 : Math.sign(x) * Math.min(178 - width / 2, Math.max(104 + width / 2, Math.abs(x)));
  chip.setAttribute('x', String(middle - width / 2));
  chip.setAttribute('width', String(width));
  text.setAttribute('x', String(middle));
}

function summaryOf(state: CarViewState, words: CarViewWords): string {
  const open = openingNames.flatMap((name) =>
    state[name] === 'closed' || state[name] === 'absent' ? [] : [`${words.parts[name]}: ${words.states[state[name]]}`],
  );
  const lock = words.states[state.locked === null ? 'unknown' : state.locked ? 'locked' : 'unlocked'];
  return [`${words.parts.lock}: ${lock}`, ...open].join(', ');
}

function find(root: ParentNode, selector: string): SVGElement {
  const found = root.querySelector<SVGElement>(selector);
  if (found === null) throw new Error(`The drawing has no ${selector}.`);
  return found;
}
