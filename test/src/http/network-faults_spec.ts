import { strict as assert } from 'node:assert';
import { VehicleError } from '../../../src/index';
import {
  connectionFault,
  isRefusedCertificate,
  isReset,
  lateFault,
  noTunnel,
  timedOut,
} from '../../../src/http/network-faults';

const proxy = { variable: 'HTTPS_PROXY', origin: 'http://p.example:1', host: 'p.example:1', authorization: null };
const withCode = (code: string): Error => Object.assign(new Error('with https://secret.example'), { code });
const messageOf = ({ code, message }: VehicleError): string => `${code}: ${message}`;

describe('A connection that fails', () => {
  const untrusted = ['CERT_REVOKED', 'CRL_NOT_YET_VALID', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'];
  const more = ['UNABLE_TO_GET_ISSUER_CERT', 'PATH_LENGTH_EXCEEDED', 'INVALID_CA', 'INVALID_PURPOSE', 'UNSPECIFIED'];
  const faults: [codes: string[], ofService: RegExp, ofProxy: RegExp, isOfCertificate: boolean][] = [
    [['CERT_HAS_EXPIRED'], /certificate of the service has expired/, /certificate of the proxy/, true],
    [['CERT_NOT_YET_VALID'], /is not valid yet/, /certificate of the proxy/, true],
    [['ERR_TLS_CERT_ALTNAME_INVALID'], /belongs to another host/, /certificate of the proxy/, true],
    [[...untrusted, ...more], /is not trusted on this machine \(CODE\)/, /certificate of the proxy.*\(CODE\)/, true],
    [['ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO'], /The TLS handshake.*\(CODE\)/, /proxy p.example:1 could not/, false],
    [
      ['ECONNREFUSED', 'XCERT_X', 'PATH_LENGTH_EXCEEDED_X', 'INVALID_CA_X', 'UNSPECIFIED_X', 'EPROTO_X', 'XEPROTO'],
      /The service could not be reached \(CODE\)/,
      /proxy p.example:1 could not be reached \(CODE\).*variable HTTPS_PROXY/,
      false,
    ],
  ];
  for (const [codes, ofService, ofProxy, isOfCertificate] of faults)
    for (const code of codes)
      it(`says what to do for ${code}`, () => {
        const expected = (pattern: RegExp): RegExp => new RegExp(`^NETWORK: .*${pattern.source.replace('CODE', code)}`);
        const error = connectionFault(withCode(code), null);
        assert.match(messageOf(error), expected(ofService));
        assert.match(messageOf(connectionFault(withCode(code), proxy)), expected(ofProxy));
        assert.deepEqual(error.cause, { code }, 'nothing else of the cause');
        assert.equal(isRefusedCertificate(error), isOfCertificate);
      });

  it('keeps an error that says more, and names the kind of one without a code', () => {
    const known = new VehicleError('CANCELLED', 'Stopped.');
    assert.equal(connectionFault(known, null), known);
    assert.match(connectionFault(new TypeError('x'), null).message, /\(TypeError\)/);
    assert.match(connectionFault('x', null).message, /\(string\)/);
  });

  it('may try again at once if only the socket was ended', () => {
    const fault = (code: string): VehicleError => connectionFault(withCode(code), null);
    const codes = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ECONNREFUSED', ''];
    assert.deepEqual(
      codes.map((code) => isReset(fault(code))),
      [true, true, true, false, false],
    );
    assert.equal(isReset(new VehicleError('TIMEOUT', 'Late.', { cause: { code: 'EPIPE' } })), false);
  });

  it('says what was late: the service, its name, or the proxy', () => {
    assert.equal(messageOf(lateFault(null, true)), messageOf(timedOut(10)));
    assert.match(messageOf(timedOut(9)), /^TIMEOUT: The service did not answer within 9 seconds/);
    assert.match(messageOf(lateFault(null, false)), /^TIMEOUT: The name server did not return.*within 10 seconds/);
    for (const hasAddress of [true, false])
      assert.match(
        messageOf(lateFault(proxy, hasAddress)),
        /^TIMEOUT: The proxy p\.example:1 did not answer within 10 seconds.*HTTPS_PROXY/,
      );
  });

  it('knows the limits that undici counts itself: the answer of a proxy, and TLS in its tunnel', () => {
    for (const code of ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT'])
      for (const peer of [null, proxy])
        assert.equal(messageOf(connectionFault(withCode(code), peer)), messageOf(lateFault(peer, true)));
  });

  const refusals: [status: number, retryable: boolean, sentence: RegExp][] = [
    [407, false, /does not accept the user name and the password \(status 407\).*HTTPS_PROXY/],
    [403, false, /refuses connections to the service \(status 403\)/],
    [499, false, /refuses connections to the service \(status 499\)/],
    [500, true, /could not connect to the service \(status 500\)/],
    [502, true, /could not connect to the service \(status 502\)/],
  ];
  for (const [status, retryable, sentence] of refusals)
    it(`says what the proxy refused with ${status}`, () => {
      const error = noTunnel(status, proxy);
      assert.match(messageOf(error), new RegExp(`^NETWORK: The proxy p.example:1 ${sentence.source}`));
      assert.deepEqual([error.retryable, error.cause], [retryable, { code: `HTTP_${status}` }]);
    });
});
