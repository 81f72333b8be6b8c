/** A certificate for `localhost`, 127.0.0.1 and `service.test` that no machine trusts: for local TLS servers of the tests. Valid until 2126. */
export const testCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrLhVf3qje/pmYcNU
mu2E1fJy7TbYDsLLUFwVyQZI5i+hRANCAASELagS8mtgpL6NzyhwU9UrjxX89WAS
O9/RzqVhiU/AamnEhJwMthxhWrNevHGI8E916os9fumZMxvk9pX99zLO
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBqjCCAU+gAwIBAgIUe4fQxRU/6kqt8f9izhRBTYGObtswCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjAxNDAyNFoYDzIxMjYxMDI5
MDE0MDI0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASELagS8mtgpL6NzyhwU9UrjxX89WASO9/RzqVhiU/AamnEhJwMthxh
WrNevHGI8E916os9fumZMxvk9pX99zLOo30wezAdBgNVHQ4EFgQUFoDKr340orjS
YyBD+Bo0CydvnLowHwYDVR0jBBgwFoAUFoDKr340orjSYyBD+Bo0CydvnLowDwYD
VR0TAQH/BAUwAwEB/zAoBgNVHREEITAfgglsb2NhbGhvc3SCDHNlcnZpY2UudGVz
dIcEfwAAATAKBggqhkjOPQQDAgNJADBGAiEA9fBbXGpk1PnlFv8BrhPReSCOL++A
J5Yfbr5bUL6bkdcCIQCqMgGaWOhhIp+u0PMAilpdo934iSmseyDoDZP5Kp0IwA==
-----END CERTIFICATE-----`,
};

/** A certificate for `other.test` alone, that no machine trusts: what a server sends to clients that do not name their host. Valid until 2126. */
export const otherCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgDWxUcOf3m3ES8oPB
uSgpBlXLirXO6kRGMUOYJl1y0qihRANCAAR/k6gP84JFNGmvQ3EZ9XXVfJatrfmV
yJxmcemO8ZM+1LOb+OJJH10EyCPPajbZuWRYPjZS/spBc3ig/ynuQxot
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmDCCAT6gAwIBAgIUH+DP8DV2mjQUGwo/F8jiFJ/q5lkwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKb3RoZXIudGVzdDAgFw0yNjExMjIxNTUzNThaGA8yMTI2MTAy
OTE1NTM1OFowFTETMBEGA1UEAwwKb3RoZXIudGVzdDBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABH+TqA/zgkU0aa9DcRn1ddV8lq2t+ZXInGZx6Y7xkz7Us5v44kkf
XQTII89qNtm5ZFg+NlL+ykFzeKD/Ke5DGi2jajBoMB0GA1UdDgQWBBRaiWsydeYq
LeAqcEbOwatHYC1iwjAfBgNVHSMEGDAWgBRaiWsydeYqLeAqcEbOwatHYC1iwjAP
BgNVHRMBAf8EBTADAQH/MBUGA1UdEQQOMAyCCm90aGVyLnRlc3QwCgYIKoZIzj0E
AwIDSAAwRQIhAN3sTO5LHltQxtw+HebJB1BpybPyKixC9VE/H0Et7nqBAiB5oJJc
cEAB0sN0snvr9p5CL8Quc5UihOWrepZ8prUawQ==
-----END CERTIFICATE-----`,
};
