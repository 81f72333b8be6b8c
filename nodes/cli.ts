#!/usr/bin/env node
import { runCli } from './runtime';

void runCli(process.argv.slice(2)).then((code) => process.exit(code));
