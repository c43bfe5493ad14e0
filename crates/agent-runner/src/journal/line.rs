//! One line of a journal: a checksum and a record.
//!
//! ```text
//! {"sum":"1c291ca3","seq":1,"at_ms":1767268800250,"entry":{"Event":"Started"}}
//! ```
//!
//! The sum is the CRC-32 (the one of zip and PNG) of every byte after the comma that follows it, up to the end of the line. The line is a
//! JSON object that any tool reads; a tool that writes it anew must write the sum anew, too.

use agent_core::journal::Record;
use std::io;

/// Appends a record as a line.
///
/// # Errors
/// When it is longer than a line may be; nothing is appended then.
pub(crate) fn write(record: &Record, lines: &mut Vec<u8>) -> io::Result<()> {
    let start = lines.len();
    lines.extend_from_slice(b"{\"sum\":\"00000000\"");
    serde_json::to_writer(&mut *lines, record)?;
    let (head, body) = lines[start..].split_at_mut(BODY);
    let length = BODY + body.len();
    let Some((comma, summed)) = body.split_first_mut() else {
        return Err(io::Error::other("a record without content"));
    };
    // The brace that opened the record's own object.
    *comma = b',';
    head[SUM].copy_from_slice(format!("{:08x}", crc32fast::hash(summed)).as_bytes());
    if length > MAX_LINE_BYTES {
        lines.truncate(start);
        return Err(io::Error::other(format!("the record has {length} bytes; the limit is {MAX_LINE_BYTES}")));
    }
    lines.push(b'\n');
    Ok(())
}

/// The record's own text out of a line without its end, when the checksum fits.
///
/// # Errors
/// What is wrong with the line.
pub(crate) fn check(line: &mut [u8]) -> Result<&str, String> {
    if !has_sum(line) {
        return Err(String::from("its checksum is missing"));
    }
    let (head, body) = line.split_at_mut(BODY);
    let Some((comma @ b',', summed)) = body.split_first_mut() else {
        return Err(String::from("its checksum is missing"));
    };
    let (told, found) = (String::from_utf8_lossy(&head[SUM]).into_owned(), format!("{:08x}", crc32fast::hash(summed)));
    if told != found {
        return Err(format!("its checksum is {found}, but the line says {told}"));
    }
    *comma = b'{';
    std::str::from_utf8(body).map_err(|error| error.to_string())
}

/// Whether a line begins as one with a checksum does.
pub(crate) fn has_sum(line: &[u8]) -> bool {
    line.starts_with(b"{\"sum\":\"") && line.len() > BODY && line[BODY - 1] == b'"'
}

/// Where the eight digits stand.
const SUM: std::ops::Range<usize> = 8..16;
/// Where the record begins: after the quotation mark that ends the sum.
const BODY: usize = 17;
/// Most bytes of a line. Damage can take the end of a line away; reading must not fill the memory for it.
pub(crate) const MAX_LINE_BYTES: usize = 256 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::{check, write};
    use agent_core::journal::{Entry, Record};
    use agent_core::session::Event;

    #[test]
    fn a_line_is_json_with_the_sum_that_the_documents_tell_of() {
        let record = Record { seq: 1, at_ms: 5, entry: Entry::Event(Event::Started.into()) };
        let mut lines = Vec::new();
        write(&record, &mut lines).unwrap();
        let text = r#""seq":1,"at_ms":5,"entry":{"Event":"Started"}}"#;
        let expected = format!("{{\"sum\":\"{:08x}\",{text}\n", crc32fast::hash(text.as_bytes()));
        assert_eq!(String::from_utf8(lines.clone()).unwrap(), expected);
        assert_eq!(serde_json::from_slice::<Record>(&lines).unwrap(), record, "any reader of JSON gets the record");
        lines.pop();
        assert_eq!(serde_json::from_str::<Record>(check(&mut lines).unwrap()).unwrap(), record);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let record =
            Record {
                seq: 7, at_ms: 5, entry: Entry::Event(Event::UserInput { text: "Grüße\u{2028}".into() }.into())
            };
        let mut line = Vec::new();
        write(&record, &mut line).unwrap();
        line.pop();
        for bit in 0..line.len() * 8 {
            let mut flipped = line.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            // A capital digit says the same sum, and is not what was written.
            assert!(check(&mut flipped).is_err(), "bit {bit}");
        }
    }
}
