//! Servers with certificates, good and bad ones: a bad one is told at once, the key does not reach it, and nothing is tried again.

use crate::support::{Ended, Running, Scratch};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex};

/// Somebody whom the program trusts.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        // Authorities are known by their names; no two here have the same.
        let name: String = key.public_key_raw().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        params.distinguished_name.push(DnType::CommonName, name);
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// A server with a certificate of this authority, changed in this way.
    fn server(&self, change: impl FnOnce(&mut CertificateParams)) -> Server {
        let key = KeyPair::generate().unwrap();
        let mut params = this_machine();
        change(&mut params);
        Server::start(params.signed_by(&key, &self.0).unwrap().der().clone(), &key)
    }
}

fn this_machine() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.subject_alt_names = vec![SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST))];
    params
}

/// Answers every request over TLS as a model would.
struct Server {
    url: String,
    /// What came through, decrypted; an empty text for a connection that came to nothing.
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(certificate: CertificateDer<'static>, key: &KeyPair) -> Self {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.unwrap().with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                let mut session = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
                let mut stream = rustls::Stream::new(&mut session, &mut connection);
                let request = read_request(&mut stream);
                if !request.is_empty() {
                    let _ = stream.write_all(ANSWER.as_bytes());
                }
                log.lock().unwrap().push(request);
                session.send_close_notify();
                let _ = session.complete_io(&mut connection);
            }
        });
        Self { url, seen }
    }

    fn run(&self, trusted: Option<&Authority>) -> Ended {
        let scratch = Scratch::new();
        let mut command = scratch.agent(&["run", "-p", "x", "--model", "m", "--base-url", &self.url]);
        command.args(["--api-key-env", "OPENAI_API_KEY"]);
        command.env("OPENAI_API_KEY", "sk-the-key");
        let file = scratch.path("authorities.pem");
        std::fs::write(&file, trusted.map_or_else(|| Authority::new().0.pem(), |authority| authority.0.pem())).unwrap();
        Running::start(command.env("SSL_CERT_FILE", file)).end()
    }

    /// The program told what is wrong after one attempt, in which it said nothing.
    #[track_caller]
    fn assert_refused(&self, trusted: Option<&Authority>, says: &str) {
        let ended = self.run(trusted);
        ended.assert_code(62).assert_says(says).assert_says("certificate").assert_says(&self.url);
        assert!(!ended.err.contains("retrying in"), "{ended:#?}");
        assert_eq!(*self.seen.lock().unwrap(), [""], "{ended:#?}");
    }
}

fn read_request(stream: &mut impl Read) -> String {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        request.extend_from_slice(&piece[..length]);
        // The last member of the body.
        if request.ends_with(b"]}") {
            break;
        }
    }
    String::from_utf8_lossy(&request).into_owned()
}

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
    data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}\n\n\
    data: [DONE]\n\n";

#[test]
fn a_good_certificate() {
    let authority = Authority::new();
    let server = authority.server(|_| {});
    let ended = server.run(Some(&authority));
    assert_eq!(ended.assert_code(0).out, "Hello.\n");
    assert!(server.seen.lock().unwrap()[0].contains("authorization: Bearer sk-the-key"));
}

#[test]
fn one_that_nobody_vouches_for() {
    let key = KeyPair::generate().unwrap();
    let own = this_machine().self_signed(&key).unwrap();
    Server::start(own.der().clone(), &key).assert_refused(None, "UnknownIssuer");
    Authority::new().server(|_| {}).assert_refused(None, "UnknownIssuer");
}

#[test]
fn one_of_another_host() {
    let authority = Authority::new();
    let other = |params: &mut CertificateParams| {
        params.subject_alt_names = vec![SanType::DnsName("other.example".try_into().unwrap())];
    };
    authority.server(other).assert_refused(Some(&authority), "not valid for name");
}

#[test]
fn one_that_is_too_old_or_too_new() {
    let authority = Authority::new();
    let expired = |params: &mut CertificateParams| params.not_after = date_time_ymd(2021, 1, 1);
    authority.server(expired).assert_refused(Some(&authority), "expired");
    let early = |params: &mut CertificateParams| params.not_before = date_time_ymd(2999, 1, 1);
    authority.server(early).assert_refused(Some(&authority), "not valid yet");
}
