import { addressVerdict } from './addresses';
import { ask } from './ask';
import { callsOf, pollVerdict } from './calls';
import {
  configField,
  labelStyle,
  nodeField,
  options,
  part,
  saveProperties,
  showProperties,
  showScopes,
  textOf,
} from './forms';
import { aliveInterfaces, showInterface } from './interfaces';
import { readThemes, rowOf, scopesAt, titleOf } from './reads';
import { spellOut, spellOutForms } from './templates';
import { vinVerdict, wholeVerdict } from './validators';

/**
 * What the forms share, once for all of them: it hangs on the definition of the configuration, which every other node needs.
 * The others import the same functions from the same files; the build puts a call of this kit in their place
 * (scripts/forms.mjs). So they are functions, and called when a form is at work, not while the editor loads.
 */
export const kit = {
  addressVerdict,
  aliveInterfaces,
  ask,
  callsOf,
  configField,
  labelStyle,
  nodeField,
  options,
  part,
  pollVerdict,
  readThemes,
  rowOf,
  saveProperties,
  scopesAt,
  showProperties,
  showInterface,
  showScopes,
  spellOut,
  spellOutForms,
  textOf,
  titleOf,
  vinVerdict,
  wholeVerdict,
};
