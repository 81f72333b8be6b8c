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
