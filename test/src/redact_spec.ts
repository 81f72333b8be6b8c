import { strict as assert } from 'node:assert';
import { createRedactor, VehicleError } from '../../src/index';

describe('The redactor', () => {
  it('takes out what it has learned, also where it is written with escapes', () => {
    const redactor = createRedactor();
    redactor.learn(' key with a blank ', 'a"quote');
    for (const text of ['x key with a blank x', 'x key%20with%20a%20blank x', 'x key+with+a+blank x']) assert.equal(redactor.text(text), 'x [secret] x');
    assert.equal(redactor.text(JSON.stringify({ text: 'a"quote' })), '{"text":"[secret]"}');
  });

  it('takes out the longer of two secrets where one holds the other', () => {
    const redactor = createRedactor();
    redactor.learn('token', 'token-of-mine');
    assert.equal(redactor.text('token-of-mine and token'), '[secret] and [secret]');
  });

  it('leaves words alone that are too short to be a secret', () => {
    const redactor = createRedactor();
    redactor.learn('', 'the');
    assert.equal(redactor.text('the car'), 'the car');
  });

  it('knows lasting secrets for good and the last thousand rotated ones', () => {
    const redactor = createRedactor();
    redactor.learn('lasting-secret');
    for (let index = 0; index < 3000; index += 1) redactor.learnRotated(`token-${index}-x`);
    assert.equal(redactor.text('lasting-secret token-2999-x token-0-x'), '[secret] [secret] token-0-x');
  });

  it('shortens a VIN in either case to its last six characters, and leaves other words', () => {
    const { text } = createRedactor();
    assert.equal(text('/vehicles/YV1CT9551B1570982/doors and yv1ct9551b1570982'), '/vehicles/…570982/doors and …570982');
    for (const other of ['CONNECTION_FAILURE', 'ABCDEFGHIJKLMNOPQ', '12345678901234567', '6567aa84-1111-2222-3333-444444444444']) assert.equal(text(other), other);
  });

  it('goes through plain data, names of members included', () => {
    const redactor = createRedactor();
    redactor.learn('secret-word');
    assert.deepEqual(redactor.value({ 'secret-word': [{ a: 'secret-word', n: 1, none: null }] }), { '[secret]': [{ a: '[secret]', n: 1, none: null }] });
  });

  it('rebuilds an error with all that it says, and its cause from name and code alone', () => {
    const redactor = createRedactor();
    redactor.learn('secret-word');
    const retryAt = new Date(5);
    const cause = Object.assign(new Error('secret-word'), { code: 'ECONNRESET' });
    const error = redactor.error(new VehicleError('NETWORK', 'No secret-word', { retryAt, httpStatus: 401, operationId: 'secret-word', cause }));
    assert.deepEqual(error.report(), { code: 'NETWORK', message: 'No [secret]', retryable: true, retryAt: retryAt.toISOString(), httpStatus: 401, operationId: '[secret]' });
    assert.deepEqual(error.cause, { name: 'Error', code: 'ECONNRESET' });
    const harmless = new VehicleError('NETWORK', 'Nothing', { cause: { code: 'EPIPE' } });
    assert.equal(redactor.error(harmless), harmless);
  });
});
