import type { Outcome } from '../../catalogue/outcomes';
import type { CarSwitchName } from '../control/controls';
import type { DemoFault } from '../control/demo-faults';
import type { CarViewWords } from './car-view';

/** The texts of the page, by language. */
export interface PageWords extends CarViewWords {
  title: string;
  intro: string;
  cars: string;
  kinds: Record<'petrol' | 'electric' | 'hybrid', string>;
  live: string;
  lost: string;
  car: string;
  clickSets: string;
  toggle: string;
  switches: string;
  switch: Record<Exclude<CarSwitchName, 'lock' | 'plug'>, string>;
  drive: string;
  driving: string;
  reset: string;
  level: string;
  target: string;
  fuel: string;
  range: string;
  odometer: string;
  charging: Record<string, string>;
  faults: string;
  faultsIntro: string;
  fault: Record<DemoFault, string>;
  waiting: string;
  noFaults: string;
  remove: string;
  removeAll: string;
  lastCommand: string;
  noCommand: string;
  outcome: Record<Outcome, string>;
  readOut: Record<'command' | 'refused', string>;
  climateAssumed: string;
}

const en: PageWords = {
  title: 'Demo cars',
  intro:
    'Click a part of the car, and see your flow react. Commands from Node-RED lock the car, or make it flash and honk.',
  cars: 'Car',
  kinds: { petrol: 'petrol', electric: 'electric', hybrid: 'plug-in hybrid' },
  live: 'Live',
  lost: 'No connection to the simulated service. Is it still running?',
  car: 'Car from above',
  clickSets: 'A click on a door, a window or a lid',
  toggle: 'opens or closes it',
  switches: 'State of the car',
  switch: {
    climate: 'Climate',
    engine: 'Engine',
    asleep: 'Asleep',
    inUse: 'In use',
    noInternet: 'No connection',
    fast: 'Charge faster',
  },
  drive: 'Drive home',
  driving: 'Driving home…',
  reset: 'Reset',
  level: 'Battery',
  target: 'target',
  fuel: 'Fuel',
  range: 'Range',
  odometer: 'Odometer',
  charging: {
    IDLE: 'not charging',
    CHARGING: 'charging',
    DONE: 'charged',
    SCHEDULED: 'scheduled',
    ERROR: 'charging fault',
  },
  faults: 'Faults',
  faultsIntro: 'The next request to the service fails in this way.',
  fault: {
    quota: 'Quota spent',
    outage: 'Service down',
    token: 'Token refused',
    timeout: 'Car does not answer',
    cut: 'Connection cut',
    slow: 'Slow answer (20 s)',
  },
  waiting: 'Waiting for a request:',
  noFaults: 'No fault is set.',
  remove: 'Remove',
  removeAll: 'Remove all',
  lastCommand: 'Last command',
  noCommand: 'none yet',
  outcome: { pending: 'under way', succeeded: 'done', failed: 'failed', undetermined: 'result unknown' },
  readOut: { command: 'The car received the command', refused: 'This did not work:' },
  climateAssumed: 'The service cannot report the climate. It ends by itself after 30 minutes.',
  parts: {
    frontLeftDoor: 'Front left door',
    frontRightDoor: 'Front right door',
    rearLeftDoor: 'Rear left door',
    rearRightDoor: 'Rear right door',
    frontLeftWindow: 'Front left window',
    frontRightWindow: 'Front right window',
    rearLeftWindow: 'Rear left window',
    rearRightWindow: 'Rear right window',
    sunroof: 'Sunroof',
    hood: 'Hood',
    tailgate: 'Tailgate',
    tankLid: 'Tank lid',
    lock: 'Lock',
    plug: 'Charging cable',
  },
  states: {
    open: 'open',
    ajar: 'ajar',
    closed: 'closed',
    unknown: 'unknown',
    locked: 'locked',
    unlocked: 'unlocked',
    plugged: 'plugged in',
    unplugged: 'not plugged in',
  },
};

const de: PageWords = {
  title: 'Demo-Autos',
  intro:
    'Klicken Sie auf einen Teil des Autos, und Ihr Flow reagiert. Befehle aus Node-RED verriegeln das Auto oder lassen es blinken und hupen.',
  cars: 'Auto',
  kinds: { petrol: 'Benziner', electric: 'elektrisch', hybrid: 'Plug-in-Hybrid' },
  live: 'Live',
  lost: 'Keine Verbindung zum simulierten Dienst. Läuft er noch?',
  car: 'Auto von oben',
  clickSets: 'Ein Klick auf Tür, Fenster oder Klappe',
  toggle: 'öffnet oder schließt',
  switches: 'Zustand des Autos',
  switch: {
    climate: 'Klima',
    engine: 'Motor',
    asleep: 'Schläft',
    inUse: 'In Benutzung',
    noInternet: 'Keine Verbindung',
    fast: 'Schneller laden',
  },
  drive: 'Nach Hause fahren',
  driving: 'Fährt nach Hause …',
  reset: 'Zurücksetzen',
  level: 'Batterie',
  target: 'Ziel',
  fuel: 'Kraftstoff',
  range: 'Reichweite',
  odometer: 'Kilometerstand',
  charging: {
    IDLE: 'lädt nicht',
    CHARGING: 'lädt',
    DONE: 'geladen',
    SCHEDULED: 'geplant',
    ERROR: 'Ladefehler',
  },
  faults: 'Fehler',
  faultsIntro: 'Die nächste Anfrage an den Dienst scheitert auf diese Weise.',
  fault: {
    quota: 'Kontingent verbraucht',
    outage: 'Dienst gestört',
    token: 'Token abgelehnt',
    timeout: 'Auto antwortet nicht',
    cut: 'Verbindung bricht ab',
    slow: 'Langsame Antwort (20 s)',
  },
  waiting: 'Wartet auf eine Anfrage:',
  noFaults: 'Kein Fehler ist eingestellt.',
  remove: 'Entfernen',
  removeAll: 'Alle entfernen',
  lastCommand: 'Letzter Befehl',
  noCommand: 'noch keiner',
  outcome: {
    pending: 'läuft',
    succeeded: 'erledigt',
    failed: 'fehlgeschlagen',
    undetermined: 'Ergebnis unbekannt',
  },
  readOut: { command: 'Das Auto bekam den Befehl', refused: 'Das ging nicht:' },
  climateAssumed: 'Der Dienst kann die Klimatisierung nicht melden. Sie endet nach 30 Minuten von selbst.',
  parts: {
    frontLeftDoor: 'Tür vorn links',
    frontRightDoor: 'Tür vorn rechts',
    rearLeftDoor: 'Tür hinten links',
    rearRightDoor: 'Tür hinten rechts',
    frontLeftWindow: 'Fenster vorn links',
    frontRightWindow: 'Fenster vorn rechts',
    rearLeftWindow: 'Fenster hinten links',
    rearRightWindow: 'Fenster hinten rechts',
    sunroof: 'Schiebedach',
    hood: 'Motorhaube',
    tailgate: 'Heckklappe',
    tankLid: 'Tankklappe',
    lock: 'Verriegelung',
    plug: 'Ladekabel',
  },
  states: {
    open: 'offen',
    ajar: 'angelehnt',
    closed: 'zu',
    unknown: 'unbekannt',
    locked: 'verriegelt',
    unlocked: 'entriegelt',
    plugged: 'angesteckt',
    unplugged: 'nicht angesteckt',
  },
};

/** The words of a language, also where a region is named, `de-AT`; else English. */
export const wordsOf = (language: string): PageWords & { language: string } =>
  language.toLowerCase().startsWith('de') ? { ...de, language: 'de' } : { ...en, language: 'en' };
