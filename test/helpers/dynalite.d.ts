declare module 'dynalite' {
  import type { Server } from 'node:http';
  /** Takes the options we use; see dynalite's index.js. */
  export default function dynalite(options: { path?: string; createTableMs?: number }): Server;
}
