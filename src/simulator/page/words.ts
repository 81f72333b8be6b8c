import type { Outcome } from '../../catalogue/outcomes';
import deShared from '../../words/de.json';
import enShared from '../../words/en-US.json';
import type { CarSwitchName } from '../control/controls';
import type { DemoFault } from '../control/demo-faults';
import type { CarViewWords } from './car-view';

/** The texts of the page, by language: its own, and the words that the nodes and the tab “Cars” use, too. */
interface PageWords extends CarViewWords {
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
  ...wordsFrom(enShared),
  title: 'Demo cars',
  intro:
    'Click a part of the car, and see your flow react. Commands from Node-RED lock the car, or make it flash and honk.',
  cars: 'Car',
  kinds: { petrol: 'petrol', electric: 'electric', hybrid: 'plug-in hybrid' },
  live: 'Live',
  lost: 'No connection to the simulated service. Is it still running?',
  car: 'Car from above',
  switches: 'State of the car',
  target: 'target',
  range: 'Range',
  odometer: 'Odometer',
  faults: 'Faults',
  faultsIntro: 'The next request to the service fails in this way.',
  waiting: 'Waiting for a request:',
  noFaults: 'No fault is set.',
  remove: 'Remove',
  removeAll: 'Remove all',
  lastCommand: 'Last command',
  noCommand: 'none yet',
  readOut: { command: 'The car received the command', refused: 'This did not work:' },
  climateAssumed: 'The service cannot report the climate. It ends by itself after 30 minutes.',
};

const de: PageWords = {
  ...wordsFrom(deShared),
  title: 'Demo-Autos',
  intro:
    'Klicken Sie auf einen Teil des Autos, und Ihr Flow reagiert. Befehle aus Node-RED verriegeln das Auto oder lassen es blinken und hupen.',
  cars: 'Auto',
  kinds: { petrol: 'Benziner', electric: 'elektrisch', hybrid: 'Plug-in-Hybrid' },
  live: 'Live',
  lost: 'Keine Verbindung zum simulierten Dienst. Läuft er noch?',
  car: 'Auto von oben',
  switches: 'Zustand des Autos',
  target: 'Ziel',
  range: 'Reichweite',
  odometer: 'Kilometerstand',
  faults: 'Fehler',
  faultsIntro: 'Die nächste Anfrage an den Dienst scheitert auf diese Weise.',
  waiting: 'Wartet auf eine Anfrage:',
  noFaults: 'Kein Fehler ist eingestellt.',
  remove: 'Entfernen',
  removeAll: 'Alle entfernen',
  lastCommand: 'Letzter Befehl',
  noCommand: 'noch keiner',
  readOut: { command: 'Das Auto bekam den Befehl', refused: 'Das ging nicht:' },
  climateAssumed: 'Der Dienst kann die Klimatisierung nicht melden. Sie endet nach 30 Minuten von selbst.',
};

/** The shared words under the names of the page. */
function wordsFrom({ part, state, outcome, fault, demo, word }: typeof enShared) {
  const { clicks, toggle, drive, driving, reset, level, fuel, ...switches } = demo;
  return {
    parts: capitalized(part),
    states: state,
    outcome,
    fault,
    charging: word,
    switch: switches,
    clickSets: clicks,
    toggle,
    drive,
    driving,
    reset,
    level,
    fuel,
  };
}

function capitalized<Words extends Record<string, string>>(words: Words): Words {
  const entries = Object.entries(words).map(([key, text]) => [key, text.charAt(0).toUpperCase() + text.slice(1)]);
  // The keys stay.
  return Object.fromEntries(entries) as Words;
}

/** The words of a language, also where a region is named, `de-AT`; else English. */
export const wordsOf = (language: string): PageWords & { language: string } =>
  language.toLowerCase().startsWith('de') ? { ...de, language: 'de' } : { ...en, language: 'en' };
