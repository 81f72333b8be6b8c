import { once } from 'node:events';
import { createRequire } from 'node:module';

/** What the test uses of the MQTT client that Node-RED brings. */
interface MqttClient extends NodeJS.EventEmitter {
  subscribe(topic: string, options: { qos: 0 }): void;
  publish(topic: string, payload: string, options: { retain: boolean }): void;
  end(force: boolean): void;
}
const { connect } = createRequire(require.resolve('@node-red/nodes/package.json'))('mqtt') as {
  connect(url: string, options: { reconnectPeriod: 0 }): MqttClient;
};

/**
 * A subscriber that connects at this moment, as Home Assistant does when it starts: it gets what
 * the broker keeps, and what follows.
 */
export class Subscriber {
  readonly got: { topic: string; text: string; retain: boolean }[] = [];
  readonly #client: MqttClient;
  #news: () => void = () => undefined;

  static async open(port: number): Promise<Subscriber> {
    const client = connect(`mqtt://127.0.0.1:${port}`, { reconnectPeriod: 0 });
    const subscriber = new Subscriber(client);
    await once(client, 'connect');
    client.subscribe('#', { qos: 0 });
    return subscriber;
  }

  constructor(client: MqttClient) {
    this.#client = client;
    client.on('error', () => undefined);
    client.on('message', (topic: string, payload: Buffer, { retain }: { retain: boolean }) => {
      this.got.push({ topic, text: payload.toString(), retain });
      this.#news();
    });
  }

  async until(isThere: () => boolean): Promise<void> {
    while (!isThere()) await new Promise<void>((resolve) => (this.#news = resolve));
  }

  publish(topic: string, payload: string, retain = false): void {
    this.#client.publish(topic, payload, { retain });
  }

  last(topic: string): string | undefined {
    return this.got.findLast((one) => one.topic === topic)?.text;
  }

  close(): void {
    this.#client.end(true);
  }
}
