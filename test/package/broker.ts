import { createServer, type Server } from 'node:net';
import type { Aedes } from 'aedes' with { 'resolution-mode': 'import' };
import { listen } from '../support/listening';

export interface Published {
  topic: string;
  text: string;
  retain: boolean;
}

/** An MQTT broker in this process, which begins without any message. */
export class Broker {
  private constructor(
    readonly port: number,
    readonly aedes: Aedes,
    readonly server: Server,
  ) {}

  static async open(onPublish: (message: Published) => void, port = 0): Promise<Broker> {
    const aedes = await (await import('aedes')).Aedes.createBroker();
    aedes.on('publish', ({ topic, payload, retain }) => {
      if (!topic.startsWith('$SYS')) onPublish({ topic, text: payload.toString(), retain });
    });
    const server = createServer((socket) => aedes.handle(socket));
    return new Broker(await listen(server, port), aedes, server);
  }

  publish(topic: string, payload: string, retain = false): void {
    this.aedes.publish({ cmd: 'publish', qos: 0, dup: false, retain, topic, payload }, () => undefined);
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.aedes.close(resolve));
    await new Promise((resolve) => this.server.close(resolve));
  }
}
