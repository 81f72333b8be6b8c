/** The pool alone: the whole of undici costs three times its time and memory to load, for clients that nobody here uses. */
declare module 'undici/lib/dispatcher/pool' {
  import { Pool } from 'undici';
  export = Pool;
}
